/** Validation errors of fields, as the causes of a failure (`util/validation/field/errors.go` of apimachinery). */
import type { Problem } from '../../../kubernetes/api/problem.ts';
import type { Json } from '../json.ts';
import type { Cause } from './failures.ts';

const quoted = (value: string): string => JSON.stringify(value);

/** The message lists `supported` in this order. */
export const notSupported = (field: string, value: Json, supported: readonly string[]): Cause => ({
  reason: 'FieldValueNotSupported',
  message: `Unsupported value: ${JSON.stringify(value)}: supported values: ${supported.map(quoted).join(', ')}`,
  field,
});

export const forbidden = (field: string, why: string): Cause => ({
  reason: 'FieldValueForbidden',
  message: `Forbidden: ${why}`,
  field,
});

export const tooLong = (field: string, mostBytes: number): Cause => ({
  reason: 'FieldValueTooLong',
  message: `Too long: may not be more than ${mostBytes} bytes`,
  field,
});

export const invalidValue = (field: string, value: Json, why: string): Cause => ({
  reason: 'FieldValueInvalid',
  message: `Invalid value: ${JSON.stringify(value)}: ${why}`,
  field,
});

export const required = (field: string, why?: string): Cause => ({
  reason: 'FieldValueRequired',
  message: why === undefined ? 'Required value' : `Required value: ${why}`,
  field,
});

/** `why` names the values that must be unique. */
export const duplicate = (field: string, value: Json, why?: string): Cause => ({
  reason: 'FieldValueDuplicate',
  message: `Duplicate value: ${JSON.stringify(value)}${why === undefined ? '' : `: ${why}`}`,
  field,
});

/** The reason of a cause, by the start of its message. */
const REASONS: readonly (readonly [beginning: string, reason: string])[] = [
  ['Required value', 'FieldValueRequired'],
  ['Unsupported value', 'FieldValueNotSupported'],
  ['Duplicate value', 'FieldValueDuplicate'],
  ['Forbidden', 'FieldValueForbidden'],
  ['Too long', 'FieldValueTooLong'],
  ['Too many', 'FieldValueTooMany'],
  ['Not found', 'FieldValueNotFound'],
];

/** Converts a problem found by `kubernetes/api`. */
export function causeOf({ path, message }: Problem): Cause {
  const [, reason = 'FieldValueInvalid'] = REASONS.find(([beginning]) => message.startsWith(beginning)) ?? [];
  return { reason, message, field: path };
}
