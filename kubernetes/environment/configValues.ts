/** The variables that a container takes from ConfigMaps and Secrets (C37). */

import { textOfBytes } from '../../base/byteText.ts';
import { NodeFailure } from '../../base/failure.ts';
import type { Container, EnvFromSource, EnvVarSource } from '../api/schema/container.ts';
import type { ConfigObject, ConfigReference } from '../objects/configObject.ts';
import { ObjectNotFound } from '../objects/podObjects.ts';

interface NamedObject extends Pick<ConfigReference, 'kind' | 'name'> {
  readonly optional: boolean;
}

/** What is known of the objects of a container, by `keyOfObject`: each as it is, or why it cannot be had. */
export type FoundObjects = ReadonlyMap<string, ConfigObject | Error>;

export const keyOfObject = ({ kind, name }: Pick<NamedObject, 'kind' | 'name'>): string => `${kind}/${name}`;

/** The objects that a container takes variables from, each once. */
export function objectsOf({ env = [], envFrom = [] }: Container): readonly NamedObject[] {
  const named = [
    ...envFrom.map(namedBy),
    ...env.map(({ valueFrom = {} }) =>
      namedBy({ configMapRef: valueFrom.configMapKeyRef, secretRef: valueFrom.secretKeyRef }),
    ),
  ].flatMap((each) => each ?? []);
  return [...new Map(named.map((each) => [keyOfObject(each), each])).values()];
}

interface References {
  readonly configMapRef?: Reference | undefined;
  readonly secretRef?: Reference | undefined;
}

interface Reference {
  readonly name?: string;
  readonly optional?: boolean;
}

function namedBy({ configMapRef, secretRef }: References): NamedObject | undefined {
  const reference = configMapRef ?? secretRef;
  if (reference === undefined) return undefined;
  const { name = '', optional = false } = reference;
  return { kind: configMapRef ? 'ConfigMap' : 'Secret', name, optional };
}

/** All texts of an object by their keys; undefined where it may be missing, and is. Throws `CreateContainerConfigError`. */
export function allValues(from: EnvFromSource, found: FoundObjects): Readonly<Record<string, string>> | undefined {
  const named = namedBy(from);
  const object = named && objectAt(named, found);
  if (object === undefined) return undefined;
  return Object.fromEntries(
    [...object.data].flatMap(([key, value]) => {
      const text = textOf(object, value);
      return text === undefined ? [] : [[key, text]];
    }),
  );
}

/** The text at one key of an object, in the words of a kubelet where it is not there; as above. */
export function oneValue(
  { configMapKeyRef, secretKeyRef }: EnvVarSource,
  found: FoundObjects,
  namespace: string,
): string | undefined {
  const reference = configMapKeyRef ?? secretKeyRef;
  const named = namedBy({ configMapRef: configMapKeyRef, secretRef: secretKeyRef });
  if (reference === undefined || named === undefined) return undefined;
  const { key } = reference;
  const object = objectAt(named, found);
  const value = object?.data.get(key);
  const text = object && value !== undefined ? textOf(object, value) : undefined;
  if (text !== undefined || named.optional) return text;
  throw new NodeFailure(
    'CreateContainerConfigError',
    `couldn't find key ${key} in ${named.kind} ${namespace}/${named.name}`,
  );
}

/** Where nobody can be asked there is none. */
function objectAt(named: NamedObject, found: FoundObjects): ConfigObject | undefined {
  const object = found.get(keyOfObject(named)) ?? new ObjectNotFound(named.kind, named.name);
  if (!(object instanceof Error)) return object;
  if (object instanceof ObjectNotFound && named.optional) return undefined;
  throw new NodeFailure('CreateContainerConfigError', object.message, { cause: object });
}

/** Of a ConfigMap only what is text is a variable; of a Secret whatever bytes there are. */
const textOf = ({ kind }: ConfigObject, value: string | Buffer): string | undefined =>
  typeof value === 'string' ? value : kind === 'Secret' ? textOfBytes(value) : undefined;
