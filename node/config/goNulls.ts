/** Replaces the nulls in a configuration file with the values that Go's decoder leaves in their place. */
import * as z from 'zod/mini';
import { lookUp } from '../../base/lookUp.ts';
import { isMapInGo } from './fields.ts';

/**
 * Returns a copy of `value` as Go decodes it into the type of `schema`. A null field is unset, and a null entry of a list
 * or map becomes the zero value of its type. A required string may be missing, because Go reads it as an empty one. Wrong
 * types remain for the schema to report. Integers become numbers.
 */
export function withoutNulls(schema: z.core.$ZodType, value: unknown): unknown {
  const type = unwrapOptional(schema);
  if (typeof value === 'bigint') return Number(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const elementType = type instanceof z.ZodMiniArray ? type.def.element : z.unknown();
    return value.map((entry: unknown) => (entry === null ? zeroValue(elementType) : withoutNulls(elementType, entry)));
  }
  const entries = Object.entries(value);
  if (type instanceof z.ZodMiniRecord) {
    const { valueType } = type.def;
    return Object.fromEntries(
      entries.map(([key, entry]) => [key, entry === null ? zeroValue(valueType) : withoutNulls(valueType, entry)]),
    );
  }
  const fieldTypes = type instanceof z.ZodMiniObject ? type.def.shape : {};
  const isGoMap = isMapInGo(type);
  const fields = entries.flatMap(([name, field]) => {
    const fieldType = lookUp(fieldTypes, name) ?? z.unknown();
    if (field !== null) return [[name, withoutNulls(fieldType, field)] as const];
    return isGoMap ? [[name, zeroValue(fieldType)] as const] : [];
  });
  return withStrings(fieldTypes, Object.fromEntries(fields));
}

/** Adds the required strings that are missing, unless the schema refuses an empty one. */
function withStrings(shape: z.core.$ZodShape, fields: Readonly<Record<string, unknown>>): object {
  const missingFields = Object.entries(shape).filter(
    ([name, type]) => !Object.hasOwn(fields, name) && isRequiredGoString(type),
  );
  return Object.fromEntries([...Object.entries(fields), ...missingFields.map(([name]) => [name, ''] as const)]);
}

const acceptsValue = (schema: z.core.$ZodType, value: unknown): boolean => z.safeParse(schema, value).success;

/**
 * Whether a required field is a string. Other required fields are pointers in Go, so a missing one is an error there
 * too.
 */
const isRequiredGoString = (schema: z.core.$ZodType): boolean =>
  acceptsValue(schema, '') && !acceptsValue(schema, undefined);

/**
 * Returns the zero value of a type. An empty string also stands for the zero value of a type for which 0 or false would
 * not be valid.
 */
function zeroValue(schema: z.core.$ZodType): unknown {
  const type = unwrapOptional(schema);
  if (type instanceof z.ZodMiniArray) return [];
  if (type instanceof z.ZodMiniRecord) return {};
  if (type instanceof z.ZodMiniObject) return withStrings(type.def.shape, {});
  return [false, 0].find((zero) => acceptsValue(schema, zero) && !acceptsValue(schema, '')) ?? '';
}

/** Unwraps an optional type. */
function unwrapOptional(schema: z.core.$ZodType): z.core.$ZodType {
  const isOptionalType = schema instanceof z.ZodMiniOptional || schema instanceof z.ZodMiniNullable;
  return isOptionalType ? unwrapOptional(schema.def.innerType) : schema;
}
