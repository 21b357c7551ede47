/** Immutable JSON values. */
import { lookUp } from '../../base/values/lookUp.ts';

export type Json = null | boolean | number | string | JsonList | JsonObject;
export type JsonList = readonly Json[];
export interface JsonObject {
  readonly [name: string]: Json;
}

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const isList = (value: Json | undefined): value is JsonList => Array.isArray(value);

/** Builds an object. Field names such as `__proto__` are safe. */
export const objectOf = (fields: Iterable<readonly [string, Json]>): JsonObject => Object.fromEntries(fields);

/** The string in a field, or an empty string. */
export function textAt(object: JsonObject, name: string): string {
  const value = lookUp(object, name);
  return typeof value === 'string' ? value : '';
}

/** The number in a field, if there is one. */
export function numberAt(object: JsonObject, name: string): number | undefined {
  const value = lookUp(object, name);
  return typeof value === 'number' ? value : undefined;
}

/** The object in a field, or an empty object. */
export function objectAt(object: JsonObject, name: string): JsonObject {
  const value = lookUp(object, name);
  return isObject(value) ? value : {};
}
