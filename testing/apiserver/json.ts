/** Values of JSON, as objects of the API are: read from outside, and rebuilt where they change. */
import { lookUp } from '../../base/lookUp.ts';

export type Json = null | boolean | number | string | JsonList | JsonObject;
export type JsonList = readonly Json[];
export interface JsonObject {
  readonly [name: string]: Json;
}

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const isList = (value: Json | undefined): value is JsonList => Array.isArray(value);

/** An object of its fields, whatever they are called. */
export const objectOf = (fields: Iterable<readonly [string, Json]>): JsonObject => Object.fromEntries(fields);

/** The text of a field; empty where there is none. */
export function textAt(object: JsonObject, name: string): string {
  const value = lookUp(object, name);
  return typeof value === 'string' ? value : '';
}

/** The number of a field; undefined where there is none. */
export function numberAt(object: JsonObject, name: string): number | undefined {
  const value = lookUp(object, name);
  return typeof value === 'number' ? value : undefined;
}

/** The object of a field; an empty one where there is none. */
export function objectAt(object: JsonObject, name: string): JsonObject {
  const value = lookUp(object, name);
  return isObject(value) ? value : {};
}
