/** Reads environment variables from ConfigMaps and Secrets (C37). */

import { NodeFailure } from '../../base/failure.ts';
import { bytesToText } from '../../base/text/byteText.ts';
import type { Container, EnvFromSource, EnvVarSource } from '../api/schema/container.ts';
import type { ConfigObject, ConfigReference } from '../objects/configObject.ts';
import { ObjectNotFound } from '../objects/podObjects.ts';

interface ObjectReference extends Pick<ConfigReference, 'kind' | 'name'> {
  readonly optional: boolean;
}

/** The objects that a container references, by `objectKey`. An Error explains why an object cannot be read. */
export type ResolvedObjects = ReadonlyMap<string, ConfigObject | Error>;

export const objectKey = ({ kind, name }: Pick<ObjectReference, 'kind' | 'name'>): string => `${kind}/${name}`;

/** Returns the objects that a container's environment variables reference, without duplicates. */
export function referencedObjects({ env = [], envFrom = [] }: Container): readonly ObjectReference[] {
  const references = [
    ...envFrom.map(toObjectReference),
    ...env.map(({ valueFrom = {} }) =>
      toObjectReference({ configMapRef: valueFrom.configMapKeyRef, secretRef: valueFrom.secretKeyRef }),
    ),
  ].flatMap((each) => each ?? []);
  return [...new Map(references.map((each) => [objectKey(each), each])).values()];
}

interface SourceReferences {
  readonly configMapRef?: ConfigKeyReference | undefined;
  readonly secretRef?: ConfigKeyReference | undefined;
}

interface ConfigKeyReference {
  readonly name?: string;
  readonly optional?: boolean;
}

function toObjectReference({ configMapRef, secretRef }: SourceReferences): ObjectReference | undefined {
  const reference = configMapRef ?? secretRef;
  if (reference === undefined) return undefined;
  const { name = '', optional = false } = reference;
  return { kind: configMapRef ? 'ConfigMap' : 'Secret', name, optional };
}

/**
 * Returns all values of an object as strings, by key. Returns undefined if the object is optional and does not exist.
 * Throws `CreateContainerConfigError` if the object cannot be read.
 */
export function readAllValues(
  source: EnvFromSource,
  objects: ResolvedObjects,
): Readonly<Record<string, string>> | undefined {
  const reference = toObjectReference(source);
  const object = reference && resolveObject(reference, objects);
  if (object === undefined) return undefined;
  return Object.fromEntries(
    [...object.data].flatMap(([key, value]) => {
      const valueText = valueToText(object, value);
      return valueText === undefined ? [] : [[key, valueText]];
    }),
  );
}

/**
 * Returns the value of one key of an object. Returns undefined if the reference is optional and the key or the object
 * does not exist. Otherwise throws `CreateContainerConfigError` with the kubelet's message if there is no value.
 */
export function readKeyValue(
  { configMapKeyRef, secretKeyRef }: EnvVarSource,
  objects: ResolvedObjects,
  namespace: string,
): string | undefined {
  const reference = configMapKeyRef ?? secretKeyRef;
  const objectReference = toObjectReference({ configMapRef: configMapKeyRef, secretRef: secretKeyRef });
  if (reference === undefined || objectReference === undefined) return undefined;
  const { key } = reference;
  const object = resolveObject(objectReference, objects);
  const value = object?.data.get(key);
  const valueText = object && value !== undefined ? valueToText(object, value) : undefined;
  if (valueText !== undefined || objectReference.optional) return valueText;
  throw new NodeFailure(
    'CreateContainerConfigError',
    `couldn't find key ${key} in ${objectReference.kind} ${namespace}/${objectReference.name}`,
  );
}

/**
 * Returns an object, or undefined if it is optional and does not exist. An object that is missing from `objects` is
 * treated as not found.
 */
function resolveObject(reference: ObjectReference, objects: ResolvedObjects): ConfigObject | undefined {
  const object = objects.get(objectKey(reference)) ?? new ObjectNotFound(reference.kind, reference.name);
  if (!(object instanceof Error)) return object;
  if (object instanceof ObjectNotFound && reference.optional) return undefined;
  throw new NodeFailure('CreateContainerConfigError', object.message, { cause: object });
}

/**
 * Returns the value as a string. Undefined for a binary value of a ConfigMap. The bytes of a Secret's value are
 * preserved.
 */
const valueToText = ({ kind }: ConfigObject, value: string | Buffer): string | undefined =>
  typeof value === 'string' ? value : kind === 'Secret' ? bytesToText(value) : undefined;
