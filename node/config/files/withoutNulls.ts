/** Treats nulls in a configuration file as Go's decoder does. */
import * as z from 'zod/mini';
import { lookUp } from '../../../base/values/lookUp.ts';
import { isMapInGo } from '../fields/fields.ts';

/**
 * Returns a copy of `value` as Go would decode it into the type of `schema`. Null fields are dropped, and null entries
 * of lists and maps become the zero value of their type. Missing required strings become empty strings, as in Go.
 * Values of a wrong type are left for the schema to reject. BigInts become numbers.
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
  return withRequiredStrings(fieldTypes, Object.fromEntries(fields));
}

/** Adds missing required strings as empty strings, unless the schema rejects an empty string. */
function withRequiredStrings(shape: z.core.$ZodShape, fields: Readonly<Record<string, unknown>>): object {
  const missingFields = Object.entries(shape).filter(
    ([name, type]) => !Object.hasOwn(fields, name) && isRequiredGoString(type),
  );
  return Object.fromEntries([...Object.entries(fields), ...missingFields.map(([name]) => [name, ''] as const)]);
}

const acceptsValue = (schema: z.core.$ZodType, value: unknown): boolean => z.safeParse(schema, value).success;

/**
 * Whether a field is a required string. All other required fields are pointers in Go, and a kubelet also rejects a
 * configuration without them.
 */
const isRequiredGoString = (schema: z.core.$ZodType): boolean =>
  acceptsValue(schema, '') && !acceptsValue(schema, undefined);

/**
 * Returns the zero value of a type. For a scalar, this is false or 0 if the type accepts it but not an empty string,
 * and otherwise an empty string.
 */
function zeroValue(schema: z.core.$ZodType): unknown {
  const type = unwrapOptional(schema);
  if (type instanceof z.ZodMiniArray) return [];
  if (type instanceof z.ZodMiniRecord) return {};
  if (type instanceof z.ZodMiniObject) return withRequiredStrings(type.def.shape, {});
  return [false, 0].find((zero) => acceptsValue(schema, zero) && !acceptsValue(schema, '')) ?? '';
}

/** Returns the innermost type that is neither optional nor nullable. */
function unwrapOptional(schema: z.core.$ZodType): z.core.$ZodType {
  const isOptionalType = schema instanceof z.ZodMiniOptional || schema instanceof z.ZodMiniNullable;
  return isOptionalType ? unwrapOptional(schema.def.innerType) : schema;
}
