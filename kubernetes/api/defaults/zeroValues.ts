/** Replaces nulls and missing fields with zero values, as Go's JSON decoder does (`sigs.k8s.io/json`). */
import * as z from 'zod/mini';
import { lookUp } from '../../../base/values/lookUp.ts';
import { quantitySchema } from '../schema/scalars.ts';

/**
 * Returns a copy of `value` as Go decodes it into the type of `schema`. Null entries of lists and maps, and required
 * fields that are missing or null, are set to the zero value of their type (an empty string, 0, false, or an empty list
 * or object). Optional fields that are null are removed. Unknown fields and wrong types are left for the schema to
 * report.
 */
export function withZeroValues(schema: z.core.$ZodType, value: unknown): unknown {
  if (schema instanceof z.ZodMiniExactOptional) return withZeroValues(schema.def.innerType, value);
  if (value === null || value === undefined) return zeroValueOf(schema);
  if (typeof value !== 'object') return value;
  if (schema instanceof z.ZodMiniArray) {
    if (!Array.isArray(value)) return value;
    return value.map((entry: unknown) => withZeroValues(schema.def.element, entry));
  }
  if (Array.isArray(value)) return value;
  if (schema instanceof z.ZodMiniRecord) {
    const entries = Object.entries(value);
    return Object.fromEntries(entries.map(([key, entry]) => [key, withZeroValues(schema.def.valueType, entry)]));
  }
  return schema instanceof z.ZodMiniObject ? structWithZeroValues(schema, value) : value;
}

function structWithZeroValues(schema: z.ZodMiniObject, value: object): object {
  const { shape } = schema.def;
  const fields = new Map<string, unknown>();
  for (const [name, each] of Object.entries(value)) {
    const field = lookUp(shape, name);
    const isOmitted = each === null && field instanceof z.ZodMiniExactOptional;
    if (!isOmitted) fields.set(name, field === undefined ? each : withZeroValues(field, each));
  }
  for (const [name, field] of requiredFieldsOf(schema)) {
    const zeroValue = fields.has(name) ? undefined : zeroValueOf(field);
    if (zeroValue !== undefined) fields.set(name, zeroValue);
  }
  return Object.fromEntries(fields);
}

type SchemaFields = readonly (readonly [name: string, field: z.core.$ZodType])[];

const requiredFields = new WeakMap<z.ZodMiniObject, SchemaFields>();

/** Returns the required fields of a schema. The result is cached, because a pod has many objects of the same type. */
function requiredFieldsOf(schema: z.ZodMiniObject): SchemaFields {
  const cachedFields = requiredFields.get(schema);
  if (cachedFields !== undefined) return cachedFields;
  const requiredEntries = Object.entries(schema.def.shape).filter(
    ([, field]) => !(field instanceof z.ZodMiniExactOptional),
  );
  requiredFields.set(schema, requiredEntries);
  return requiredEntries;
}

/** Returns the zero value of a type, or undefined for a literal, which has no zero value. */
function zeroValueOf(schema: z.core.$ZodType): unknown {
  if (schema === quantitySchema) return '0';
  if (schema instanceof z.ZodMiniString) return '';
  if (schema instanceof z.ZodMiniNumber) return 0;
  if (schema instanceof z.ZodMiniBoolean) return false;
  if (schema instanceof z.ZodMiniArray) return [];
  if (schema instanceof z.ZodMiniRecord) return {};
  if (schema instanceof z.ZodMiniObject) return structWithZeroValues(schema, {});
  // Go's zero value of an IntOrString is the number 0.
  return schema instanceof z.ZodMiniUnion ? 0 : undefined;
}
