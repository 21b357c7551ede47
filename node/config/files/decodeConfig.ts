/** Decodes the values in configuration files as Go does, with the decoder of Kubernetes objects. */
import * as z from 'zod/mini';
import { decodeValue } from '../../../kubernetes/api/decode/decodeValue.ts';
import { zeroValueOf } from '../../../kubernetes/api/decode/goType.ts';
import { createTypeDeriver } from '../../../kubernetes/api/decode/schemaType.ts';

/**
 * Returns a copy of `value` with Go's zero values for nulls and for missing required fields. Values of a wrong type and
 * unknown fields are left for the schema to reject.
 */
export const decodeConfig = (schema: z.core.$ZodType, value: unknown): unknown =>
  decodeValue(value, configTypeOf(schema), { retainsUnknownFields: true }).value;

const acceptsValue = (schema: z.core.$ZodType, value: unknown): boolean => z.safeParse(schema, value).success;

/**
 * Returns the Go type of the values of a schema. The schemas of fields consist of functions, so the kind of a scalar is
 * derived from the zero values that the schema accepts. A missing required field whose schema rejects the zero value
 * remains missing, so that the schema reports it as such. Required booleans are pointers in Go, and a kubelet rejects a
 * configuration without them.
 */
const configTypeOf = createTypeDeriver({
  scalarKindOf: (schema) => {
    if (acceptsValue(schema, undefined)) return 'any';
    if (acceptsValue(schema, '')) return 'string';
    if (acceptsValue(schema, false)) return 'boolean';
    return acceptsValue(schema, 0) ? 'number' : 'string';
  },
  isRequired: (schema, type) =>
    type.kind !== 'any' && type.kind !== 'boolean' && acceptsValue(schema, zeroValueOf(type)),
});
