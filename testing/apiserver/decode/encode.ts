/** Encodes decoded objects as Go writes them: without empty values, and with times and quantities in canonical form. */
import { lookUp } from '../../../base/values/lookUp.ts';
import { base64Digits } from '../../../kubernetes/api/values/base64.ts';
import { exactQuantity } from '../../../kubernetes/api/values/quantity.ts';
import { isList, isObject, type Json, type JsonObject, objectOf } from '../json.ts';
import { type Field, isPointer, isStruct, type ObjectType, type Type } from '../schema/types.ts';

/** Encodes an object of a type. A field that Go always writes is null if it is missing and has no other zero value. */
export const encodeObject = (object: JsonObject, type: ObjectType): JsonObject =>
  objectOf(type.fields.flatMap((name) => encodeField(name, type.field(name), lookUp(object, name))));

function encodeField(name: string, field: Field | undefined, value: Json | undefined): [string, Json][] {
  if (field === undefined) return [];
  const isOmitted = value === undefined || (!isPointer(field) && !isStruct(field) && isEmpty(value));
  if (isOmitted && !field.isAlwaysWritten) return [];
  return [[name, value === undefined ? null : encodeValue(value, field.type)]];
}

const isEmpty = (value: Json): boolean =>
  value === null || value === '' || value === 0 || value === false || isEmptyCollection(value);

const isEmptyCollection = (value: Json): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 0;

function encodeValue(value: Json, type: Type): Json {
  if (value === null) return null;
  switch (type.kind) {
    case 'object':
      return isObject(value) ? encodeObject(value, type.of) : value;
    case 'map':
      if (!isObject(value)) return value;
      return objectOf(Object.entries(value).map(([key, entry]) => [key, encodeValue(entry, type.values)]));
    case 'list':
      // Go stores an empty list like a missing one.
      if (!isList(value) || value.length === 0) return null;
      return value.map((entry) => encodeValue(entry, type.items));
    default:
      return typeof value === 'string' ? encodeText(value, type.kind) : value;
  }
}

const SECONDS_LENGTH = '2006-01-02T15:04:05'.length;

function encodeText(text: string, kind: Type['kind']): string {
  switch (kind) {
    case 'quantity':
      return exactQuantity(text);
    case 'bytes':
      return base64Digits(text) ?? text;
    case 'time':
      return `${secondsOf(text)}Z`;
    case 'microTime':
      return `${secondsOf(text)}.${/[.,](?<micros>\d{6})/.exec(text)?.groups?.micros ?? ''}Z`;
    default:
      return text;
  }
}

/** The time in UTC, up to the seconds. */
const secondsOf = (text: string): string => new Date(text.replace(',', '.')).toISOString().slice(0, SECONDS_LENGTH);
