/** What the metadata of any object has to be like (`api/validation/objectmeta.go` of apimachinery). */

import { dnsLabel, labelKey, labelValue } from '../../pod/api/validation/nameRules.ts';
import { lookUp } from '../../pod/lookUp.ts';
import { sameValue } from '../../pod/sameValue.ts';
import { forbidden, invalidValue, required, tooLong } from '../causes.ts';
import type { Cause } from '../failures.ts';
import { isList, type Json, type JsonObject, numberAt, objectAt, textAt } from '../json.ts';
import { ownerCauses } from './owners.ts';

const MOST_ANNOTATION_BYTES = 256 * 1024;

export interface NameRule {
  readonly isNamespaced: boolean;
  /** What is wrong with a name of this kind. */
  readonly name: (name: string) => readonly string[];
}

/** Of an object that is made. */
export function createdMetaCauses(metadata: JsonObject, { isNamespaced, name: nameRule }: NameRule): Cause[] {
  const name = textAt(metadata, 'name');
  const namespace = textAt(metadata, 'namespace');
  const each = (field: string, value: string, why: readonly string[]): Cause[] =>
    why.map((rule) => invalidValue(`metadata.${field}`, value, rule));
  return [
    ...(name === '' ? [required('metadata.name', 'name or generateName is required')] : []),
    ...(name === '' ? [] : each('name', name, nameRule(name))),
    ...(isNamespaced && namespace === '' ? [required('metadata.namespace')] : []),
    ...(isNamespaced && namespace !== '' ? each('namespace', namespace, dnsLabel(namespace)) : []),
    ...(!isNamespaced && namespace !== '' ? [forbidden('metadata.namespace', 'not allowed on this type')] : []),
    ...commonCauses(metadata),
    ...finalizerCauses(metadata),
  ];
}

const IMMUTABLE = [
  ...['name', 'namespace', 'uid', 'creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds'],
] as const;

/** Of an object that is written again. */
export function updatedMetaCauses(metadata: JsonObject, before: JsonObject): Cause[] {
  const isDeleted = lookUp(before, 'deletionTimestamp') !== undefined;
  const generation = numberAt(metadata, 'generation') ?? 0;
  const changed = IMMUTABLE.filter((name) => !sameValue(lookUp(metadata, name), lookUp(before, name)));
  return [
    ...(isDeleted ? lateFinalizers(metadata, before) : []),
    ...(textAt(metadata, 'resourceVersion') === ''
      ? [invalidValue('metadata.resourceVersion', '', 'must be specified for an update')]
      : []),
    ...(generation < (numberAt(before, 'generation') ?? 0)
      ? [invalidValue('metadata.generation', generation, 'must not be decremented')]
      : []),
    ...changed.map((name) => invalidValue(`metadata.${name}`, lookUp(metadata, name) ?? null, 'field is immutable')),
    ...commonCauses(metadata),
  ];
}

function lateFinalizers(metadata: JsonObject, before: JsonObject): Cause[] {
  const known = new Set(textsAt(before, 'finalizers'));
  const late = [...new Set(textsAt(metadata, 'finalizers'))].filter((each) => !known.has(each)).sort();
  if (late.length === 0) return [];
  const shown = late.map((each) => JSON.stringify(each)).join(', ');
  const why = 'no new finalizers can be added if the object is being deleted, found new finalizers';
  return [forbidden('metadata.finalizers', `${why} []string{${shown}}`)];
}

function commonCauses(metadata: JsonObject): Cause[] {
  const labels = Object.entries(objectAt(metadata, 'labels')).flatMap(([key, value]) => [
    ...labelKey(key).map((why) => invalidValue('metadata.labels', key, why)),
    ...labelValue(String(value)).map((why) => invalidValue('metadata.labels', value, why)),
  ]);
  const annotations = objectAt(metadata, 'annotations');
  // The case of an annotation's key does not matter.
  const keys = Object.keys(annotations).flatMap((key) =>
    labelKey(key.toLowerCase()).map((why) => invalidValue('metadata.annotations', key, why)),
  );
  const bytes = Buffer.byteLength(Object.entries(annotations).flat().join(''));
  const tooMuch = bytes > MOST_ANNOTATION_BYTES ? [tooLong('metadata.annotations', MOST_ANNOTATION_BYTES)] : [];
  return [...labels, ...keys, ...tooMuch, ...ownerCauses(lookUp(metadata, 'ownerReferences'))];
}

function finalizerCauses(metadata: JsonObject): Cause[] {
  const finalizers = textsAt(metadata, 'finalizers');
  const named = finalizers.flatMap((each) =>
    labelKey(each).map((why) => invalidValue('metadata.finalizers', each, why)),
  );
  const isBoth = ['orphan', 'foregroundDeletion'].every((each) => finalizers.includes(each));
  const why = 'finalizer orphan and foregroundDeletion cannot be both set';
  return [...named, ...(isBoth ? [invalidValue('metadata.finalizers', finalizers, why)] : [])];
}

const textsAt = (object: JsonObject, name: string): string[] => {
  const value: Json | undefined = lookUp(object, name);
  return isList(value) ? value.filter((each) => typeof each === 'string') : [];
};
