/** Parts of objects, as the rules of kinds put them together. */
import { lookUp } from '../../../../base/lookUp.ts';
import { sameValue } from '../../../../base/sameValue.ts';
import { invalidValue } from '../../causes.ts';
import type { Cause } from '../../failures.ts';
import { isList, isObject, type Json, type JsonList, type JsonObject, objectAt, objectOf } from '../../json.ts';

export const specOf = (object: JsonObject): JsonObject => objectAt(object, 'spec');
export const statusOf = (object: JsonObject): JsonObject => objectAt(object, 'status');

/** The list of a field; an empty one where there is none. */
export function listAt(object: JsonObject, name: string): JsonList {
  const value = lookUp(object, name);
  return isList(value) ? value : [];
}

export const objectsAt = (object: JsonObject, name: string): readonly JsonObject[] =>
  listAt(object, name).filter(isObject);

/** An object with these fields; one that is undefined goes. */
export function withFields(object: JsonObject, fields: Readonly<Record<string, Json | undefined>>): JsonObject {
  const merged = new Map<string, Json>(Object.entries(object));
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) merged.delete(name);
    else merged.set(name, value);
  }
  return objectOf(merged);
}

/** An object with some of its fields as they were before. */
export const withFieldsOf = (object: JsonObject, before: JsonObject, names: readonly string[]): JsonObject =>
  withFields(object, Object.fromEntries(names.map((name) => [name, lookUp(before, name)])));

export const IMMUTABLE = 'field is immutable';

/** Fields, by their paths, that nobody may change. */
export function immutableCauses(object: JsonObject, before: JsonObject, names: readonly string[]): Cause[] {
  return names.flatMap((name) => {
    const value = lookUp(object, name);
    return sameValue(value, lookUp(before, name)) ? [] : [invalidValue(name, value ?? null, IMMUTABLE)];
  });
}
