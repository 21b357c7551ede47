/** Decodes the values in configuration files as Go does, with the decoder of Kubernetes objects. */
import * as z from 'zod/mini';
import { decodeValue } from '../../../kubernetes/api/decode/decodeValue.ts';
import { createTypeDeriver } from '../../../kubernetes/api/decode/schemaType.ts';

/**
 * Returns a copy of `value` with Go's zero values for nulls and for missing strings. Values of a wrong type and unknown
 * fields are left for the schema to reject.
 */
export const decodeConfig = (schema: z.core.$ZodType, value: unknown): unknown =>
  decodeValue(value, configTypeOf(schema), { retainsUnknownFields: true }).value;

const acceptsValue = (schema: z.core.$ZodType, value: unknown): boolean => z.safeParse(schema, value).success;

/**
 * Returns the Go type of the values of a schema. The schemas of fields consist of functions, so the kind of a scalar is
 * derived from the zero values that the schema accepts. In Go, all required fields are pointers, except for strings
 * that may be empty. A kubelet rejects a configuration in which one of these pointers is missing.
 */
const configTypeOf = createTypeDeriver({
  scalarKindOf: (schema) => {
    if (acceptsValue(schema, undefined)) return 'any';
    if (acceptsValue(schema, '')) return 'string';
    if (acceptsValue(schema, false)) return 'boolean';
    return acceptsValue(schema, 0) ? 'number' : 'string';
  },
  isRequired: (schema, { kind }) => kind === 'string' && acceptsValue(schema, ''),
});
