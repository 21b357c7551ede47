/**
 * Validates the metadata that objects of all kinds have (`api/validation/objectmeta.go` of apimachinery). Used for
 * manifests and by the test API server.
 */
import type * as z from 'zod/mini';
import type { Problem } from '../../problem.ts';
import type { manifestMetaSchema } from '../../schema/meta.ts';
import { allInvalid, forbidden, invalid, required, tooLong, validateNotNegative } from '../words.ts';
import { dnsLabelProblems, labelKeyProblems, labelValueProblems, maskTrailingDash } from './nameRules.ts';

export type ObjectMeta = z.infer<typeof manifestMetaSchema>;

/** Rules for the names of objects of one kind. */
export interface NameRule {
  readonly isNamespaced: boolean;
  /** Returns the problems with the name of an object of this kind. */
  readonly name: (name: string) => readonly string[];
}

const METADATA_PATH = 'metadata';
const MAX_ANNOTATION_BYTES = 256 * 1024;

/** Validates the metadata of a new object after its name has been generated. */
export function validateObjectMeta(metadata: ObjectMeta, { isNamespaced, name: nameRule }: NameRule): Problem[] {
  const { name = '', generateName = '', namespace = '' } = metadata;
  const nameProblems = allInvalid(`${METADATA_PATH}.name`, name, nameRule(name));
  return [
    ...(generateName === ''
      ? []
      : allInvalid(`${METADATA_PATH}.generateName`, generateName, nameRule(maskTrailingDash(generateName)))),
    ...(name === '' ? [required(`${METADATA_PATH}.name`, 'name or generateName is required')] : nameProblems),
    ...(isNamespaced ? validateNamespace(namespace) : forbidNamespace(namespace)),
    ...validateNotNegative(`${METADATA_PATH}.generation`, metadata.generation),
    ...validateCommonMeta(metadata),
    ...validateFinalizers(metadata.finalizers ?? []),
    ...validateManagedFields(metadata),
  ];
}

const validateNamespace = (namespace: string): Problem[] =>
  namespace === ''
    ? [required(`${METADATA_PATH}.namespace`)]
    : allInvalid(`${METADATA_PATH}.namespace`, namespace, dnsLabelProblems(namespace));

const forbidNamespace = (namespace: string): Problem[] =>
  namespace === '' ? [] : [forbidden(`${METADATA_PATH}.namespace`, 'not allowed on this type')];

/** Validates the metadata that an update may change: labels, annotations and owners. */
export function validateCommonMeta({ labels = {}, annotations = {}, ownerReferences = [] }: ObjectMeta): Problem[] {
  return [
    ...validateLabels(labels, `${METADATA_PATH}.labels`),
    ...validateAnnotations(annotations, `${METADATA_PATH}.annotations`),
    ...validateOwners(ownerReferences),
  ];
}

/** Validates labels, or a selector that has the same form. */
export function validateLabels(labels: Readonly<Record<string, string>>, path: string): Problem[] {
  return Object.entries(labels).flatMap(([key, value]) => [
    ...allInvalid(path, key, labelKeyProblems(key)),
    ...allInvalid(path, value, labelValueProblems(value)),
  ]);
}

/** Validates annotations. Their keys are case-insensitive, and their total size is limited. */
export function validateAnnotations(annotations: Readonly<Record<string, string>>, path: string): Problem[] {
  return [
    ...Object.keys(annotations).flatMap((key) => allInvalid(path, key, labelKeyProblems(key.toLowerCase()))),
    ...validateAnnotationSize(annotations, path),
  ];
}

export function validateAnnotationSize(annotations: Readonly<Record<string, string>>, path: string): Problem[] {
  const totalBytes = Object.entries(annotations).reduce(
    (sum, [key, value]) => sum + byteLength(key) + byteLength(value),
    0,
  );
  return totalBytes > MAX_ANNOTATION_BYTES ? [tooLong(path, MAX_ANNOTATION_BYTES)] : [];
}

const byteLength = (text: string): number => new TextEncoder().encode(text).length;

type OwnerReference = NonNullable<ObjectMeta['ownerReferences']>[number];

const OWNERS_PATH = `${METADATA_PATH}.ownerReferences`;

/** Checks that each owner is specified completely and that at most one owner is the controller. */
function validateOwners(owners: readonly OwnerReference[]): Problem[] {
  const problems: Problem[] = [];
  // Format the list only once, because the problem of each additional controller contains the whole list, which can be
  // long.
  let formattedOwners: string | undefined;
  let controller: string | undefined;
  for (const owner of owners) {
    problems.push(...validateOwner(owner));
    if (owner.controller !== true) continue;
    const name = `${owner.kind}/${owner.name}`;
    const conflictMessage = `Found "true" in references for ${controller} and ${name}`;
    if (controller === undefined) {
      controller = name;
      continue;
    }
    formattedOwners ??= JSON.stringify(owners.map(inGoFieldOrder));
    const message = `Invalid value: ${formattedOwners}: Only one reference can have Controller set to true. ${conflictMessage}`;
    problems.push({ path: OWNERS_PATH, message });
  }
  return problems;
}

function validateOwner(owner: OwnerReference): Problem[] {
  const { apiVersion, kind, name, uid } = owner;
  const hasVersion = apiVersion !== '' && !apiVersion.endsWith('/') && apiVersion.split('/').length <= 2;
  const emptyFields = Object.entries({ kind, name, uid }).filter(([, value]) => value === '');
  const isEvent = apiVersion === 'v1' && kind === 'Event';
  return [
    ...(hasVersion ? [] : [invalid(`${OWNERS_PATH}.apiVersion`, apiVersion, 'version must not be empty')]),
    ...emptyFields.map(([field, value]) => invalid(`${OWNERS_PATH}.${field}`, value, 'must not be empty')),
    ...(isEvent
      ? [invalid(OWNERS_PATH, inGoFieldOrder(owner), '/v1, Kind=Event is disallowed from being an owner')]
      : []),
  ];
}

/** Returns an owner reference for a message, with its fields in the order of the Go type. */
function inGoFieldOrder({
  apiVersion,
  kind,
  name,
  uid,
  controller,
  blockOwnerDeletion,
}: OwnerReference): OwnerReference {
  return {
    apiVersion,
    kind,
    name,
    uid,
    ...(controller === undefined ? {} : { controller }),
    ...(blockOwnerDeletion === undefined ? {} : { blockOwnerDeletion }),
  };
}

function validateFinalizers(finalizers: readonly string[]): Problem[] {
  const path = `${METADATA_PATH}.finalizers`;
  const hasBothFinalizers = ['orphan', 'foregroundDeletion'].every((each) => finalizers.includes(each));
  const reason = 'finalizer orphan and foregroundDeletion cannot be both set';
  return [
    ...finalizers.flatMap((each) => allInvalid(path, each, labelKeyProblems(each))),
    ...(hasBothFinalizers ? [invalid(path, finalizers, reason)] : []),
  ];
}

const STANDARD_FINALIZERS: ReadonlySet<string> = new Set(['kubernetes', 'orphan', 'foregroundDeletion']);

/** Checks that finalizers without a domain are standard ones (`validateKubeFinalizerName` of `core/validation`). */
export const validateKubeFinalizers = ({ finalizers = [] }: Pick<ObjectMeta, 'finalizers'>): Problem[] =>
  finalizers.flatMap((each, index) =>
    each.includes('/') || STANDARD_FINALIZERS.has(each)
      ? []
      : [
          invalid(
            `${METADATA_PATH}.finalizers[${index}]`,
            each,
            'name is neither a standard finalizer name nor is it fully qualified',
          ),
        ],
  );

const MAX_MANAGER_BYTES = 128;
const MAX_SUBRESOURCE_BYTES = 256;

function validateManagedFields({ managedFields = [] }: ObjectMeta): Problem[] {
  return managedFields.flatMap(({ operation = '', fieldsType = '', manager = '', subresource = '' }, index) => {
    const path = `${METADATA_PATH}.managedFields[${index}]`;
    const isKnownOperation = operation === 'Apply' || operation === 'Update';
    return [
      ...(isKnownOperation ? [] : [invalid(`${path}.operation`, operation, 'must be `Apply` or `Update`')]),
      ...(['', 'FieldsV1'].includes(fieldsType)
        ? []
        : [invalid(`${path}.fieldsType`, fieldsType, 'must be `FieldsV1`')]),
      ...(byteLength(manager) > MAX_MANAGER_BYTES ? [tooLong(`${path}.manager`, MAX_MANAGER_BYTES)] : []),
      ...(byteLength(subresource) > MAX_SUBRESOURCE_BYTES
        ? [tooLong(`${path}.subresource`, MAX_SUBRESOURCE_BYTES)]
        : []),
    ];
  });
}
