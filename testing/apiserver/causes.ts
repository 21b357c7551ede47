/** What is wrong with a field, as the causes of a failure tell it (`util/validation/field/errors.go` of apimachinery). */
import type { Problem } from '../../kubernetes/api/problem.ts';
import type { Cause } from './failures.ts';
import type { Json } from './json.ts';

const quoted = (value: string): string => JSON.stringify(value);

/** `supported` in the order in which they are told. */
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

/** `why`: what has to be told apart. */
export const duplicate = (field: string, value: Json, why?: string): Cause => ({
  reason: 'FieldValueDuplicate',
  message: `Duplicate value: ${JSON.stringify(value)}${why === undefined ? '' : `: ${why}`}`,
  field,
});

/** The reason of a cause, by the beginning of its message. */
const REASONS: readonly (readonly [beginning: string, reason: string])[] = [
  ['Required value', 'FieldValueRequired'],
  ['Unsupported value', 'FieldValueNotSupported'],
  ['Duplicate value', 'FieldValueDuplicate'],
  ['Forbidden', 'FieldValueForbidden'],
  ['Too long', 'FieldValueTooLong'],
  ['Too many', 'FieldValueTooMany'],
  ['Not found', 'FieldValueNotFound'],
];

/** A problem that the checks of `kubernetes/api` found, as a cause. */
export function causeOf({ path, message }: Problem): Cause {
  const [, reason = 'FieldValueInvalid'] = REASONS.find(([beginning]) => message.startsWith(beginning)) ?? [];
  return { reason, message, field: path };
}
