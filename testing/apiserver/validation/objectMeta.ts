/**
 * Validates metadata for the registry: the rules of a manifest (`kubernetes/api/validation/metadata/objectMeta.ts`), and the
 * immutable fields (`api/validation/objectmeta.go` of apimachinery).
 */
import * as z from 'zod/mini';
import { isJsonEqual } from '../../../base/values/isJsonEqual.ts';
import { lookUp } from '../../../base/values/lookUp.ts';
import { decodeValue } from '../../../kubernetes/api/decode/decodeValue.ts';
import { goTypeOf } from '../../../kubernetes/api/decode/schemaType.ts';
import { manifestMetaSchema } from '../../../kubernetes/api/schema/meta.ts';
import {
  type NameRule,
  type ObjectMeta,
  validateCommonMeta,
  validateKubeFinalizers,
  validateObjectMeta,
} from '../../../kubernetes/api/validation/metadata/objectMeta.ts';
import { causeOf, forbidden, invalidValue } from '../failures/causes.ts';
import type { Cause } from '../failures/failures.ts';
import { isList, type Json, type JsonObject, numberAt, objectAt, textAt } from '../json.ts';

/** Parses decoded metadata, which has the types of its schema already. */
const metaOf = (metadata: JsonObject): ObjectMeta =>
  z.parse(manifestMetaSchema, decodeValue(metadata, goTypeOf(manifestMetaSchema)).value);

/** Validates the metadata of a new object. */
export const createdMetaCauses = (metadata: JsonObject, rule: NameRule): Cause[] =>
  validateObjectMeta(metaOf(metadata), rule).map(causeOf);

/** Validates the finalizers of Kubernetes' own kinds. */
export const kubeFinalizerCauses = (object: JsonObject): Cause[] =>
  validateKubeFinalizers(metaOf(objectAt(object, 'metadata'))).map(causeOf);

const IMMUTABLE = [
  'name',
  'namespace',
  'uid',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
] as const;

/** Validates the metadata of an updated object. */
export function updatedMetaCauses(metadata: JsonObject, before: JsonObject): Cause[] {
  const isDeleted = lookUp(before, 'deletionTimestamp') !== undefined;
  const generation = numberAt(metadata, 'generation') ?? 0;
  const changed = IMMUTABLE.filter((name) => !isJsonEqual(lookUp(metadata, name), lookUp(before, name)));
  return [
    ...(isDeleted ? newFinalizerCauses(metadata, before) : []),
    ...(textAt(metadata, 'resourceVersion') === ''
      ? [invalidValue('metadata.resourceVersion', '', 'must be specified for an update')]
      : []),
    ...(generation < (numberAt(before, 'generation') ?? 0)
      ? [invalidValue('metadata.generation', generation, 'must not be decremented')]
      : []),
    ...changed.map((name) => invalidValue(`metadata.${name}`, lookUp(metadata, name) ?? null, 'field is immutable')),
    ...validateCommonMeta(metaOf(metadata)).map(causeOf),
  ];
}

function newFinalizerCauses(metadata: JsonObject, before: JsonObject): Cause[] {
  const known = new Set(textsAt(before, 'finalizers'));
  const late = [...new Set(textsAt(metadata, 'finalizers'))].filter((each) => !known.has(each)).sort();
  if (late.length === 0) return [];
  const shown = late.map((each) => JSON.stringify(each)).join(', ');
  const why = 'no new finalizers can be added if the object is being deleted, found new finalizers';
  return [forbidden('metadata.finalizers', `${why} []string{${shown}}`)];
}

const textsAt = (object: JsonObject, name: string): string[] => {
  const value: Json | undefined = lookUp(object, name);
  return isList(value) ? value.filter((each) => typeof each === 'string') : [];
};
