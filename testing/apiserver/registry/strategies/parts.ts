/** Helpers for strategies. */

import { isJsonEqual } from '../../../../base/values/isJsonEqual.ts';
import { lookUp } from '../../../../base/values/lookUp.ts';
import { invalidValue } from '../../failures/causes.ts';
import type { Cause } from '../../failures/failures.ts';
import { isList, isObject, type Json, type JsonList, type JsonObject, objectAt, objectOf } from '../../json.ts';

export const specOf = (object: JsonObject): JsonObject => objectAt(object, 'spec');
export const statusOf = (object: JsonObject): JsonObject => objectAt(object, 'status');

/** The list in a field, or an empty list. */
export function listAt(object: JsonObject, name: string): JsonList {
  const value = lookUp(object, name);
  return isList(value) ? value : [];
}

export const objectsAt = (object: JsonObject, name: string): readonly JsonObject[] =>
  listAt(object, name).filter(isObject);

/** Returns the object with these fields. Undefined removes a field. */
export function withFields(object: JsonObject, fields: Readonly<Record<string, Json | undefined>>): JsonObject {
  const merged = new Map<string, Json>(Object.entries(object));
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) merged.delete(name);
    else merged.set(name, value);
  }
  return objectOf(merged);
}

/** Returns the object with these fields of the previous object. */
export const withFieldsOf = (object: JsonObject, before: JsonObject, names: readonly string[]): JsonObject =>
  withFields(object, Object.fromEntries(names.map((name) => [name, lookUp(before, name)])));

export const IMMUTABLE = 'field is immutable';

/** Returns a cause for each changed immutable field. */
export function immutableCauses(object: JsonObject, before: JsonObject, names: readonly string[]): Cause[] {
  return names.flatMap((name) => {
    const value = lookUp(object, name);
    return isJsonEqual(value, lookUp(before, name)) ? [] : [invalidValue(name, value ?? null, IMMUTABLE)];
  });
}
