/** Rules of Go's decoder for single values (`sigs.k8s.io/json`, and `UnmarshalJSON` of the types of apimachinery). */
import { base64Digits } from '../values/base64.ts';
import { parseQuantity } from '../values/quantity.ts';
import type { ScalarKind, ScalarType } from './goType.ts';

/** Reason why a value does not match its type, e.g. `range` for an integer that is too large. */
export type MismatchReason = 'missing' | 'kind' | 'fraction' | 'range' | 'format' | 'unsupported';

/**
 * Bounds of integers. A number represents an int64 exactly only up to 2^53 - 1, so larger integers, which Go accepts,
 * are rejected rather than rounded.
 */
export const INTEGER_BOUNDS = {
  int32: { min: -(2 ** 31), max: 2 ** 31 - 1 },
  int64: { min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER },
} as const;

/** Returns the reason why a value other than null does not match a type, or undefined if it matches. */
export function scalarMismatch(value: unknown, { kind, supported }: ScalarType): MismatchReason | undefined {
  switch (kind) {
    case 'string':
      if (supported?.some((each) => each === value) === false) return 'unsupported';
      return typeof value === 'string' ? undefined : 'kind';
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'kind';
    case 'int32':
    case 'int64':
      return integerMismatch(value, kind);
    case 'number':
      return isNumeric(value) ? undefined : 'kind';
    case 'intOrString':
      return typeof value === 'string' ? undefined : integerMismatch(value, 'int32');
    case 'quantity':
      if (typeof value !== 'string' && !isNumeric(value)) return 'kind';
      return parseQuantity(quantityText(value)) === undefined ? 'format' : undefined;
    case 'bytes':
      return textMismatch(value, isBase64);
    case 'time':
      return textMismatch(value, isRfc3339Time);
    case 'microTime':
      return textMismatch(value, isMicroTime);
    case 'any':
      return undefined;
  }
}

/**
 * Converts a value that matches its type to the form in which it is used. The YAML reader returns an integer as a
 * bigint if a number cannot represent it exactly. A quantity preserves all its digits.
 */
export function scalarValue(value: unknown, kind: ScalarKind): unknown {
  if (kind === 'quantity') return quantityText(value);
  return kind === 'number' ? Number(value) : value;
}

const isNumeric = (value: unknown): value is number | bigint => typeof value === 'number' || typeof value === 'bigint';

function integerMismatch(value: unknown, kind: keyof typeof INTEGER_BOUNDS): MismatchReason | undefined {
  if (!isNumeric(value)) return 'kind';
  const { min, max } = INTEGER_BOUNDS[kind];
  if (typeof value === 'number' && !Number.isInteger(value)) return 'fraction';
  return value < min || value > max ? 'range' : undefined;
}

function textMismatch(value: unknown, isValid: (text: string) => boolean): MismatchReason | undefined {
  if (typeof value !== 'string') return 'kind';
  return isValid(value) ? undefined : 'format';
}

const quantityText = (value: unknown): string => String(value).trim();
const isBase64 = (text: string): boolean => base64Digits(text) !== undefined;

const RFC_3339 = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:[.,]\d+)?(?:Z|[+-]\d\d:\d\d)$/;

/** Whether `metav1.Time` accepts a string as a time. The fraction may be separated by a comma. */
export function isRfc3339Time(text: string): boolean {
  const [, date = '', time = ''] = RFC_3339.exec(text) ?? [];
  // Reject dates such as February 30, which `Date` would convert to a day in March.
  return date !== '' && new Date(`${date}T${time}Z`).toJSON()?.startsWith(`${date}T${time}`) === true;
}

const MICRO_FRACTION = /[.,]\d{6}(?!\d)/;

/** Whether `metav1.MicroTime` accepts a string as a time. The fraction must have six digits. */
const isMicroTime = (text: string): boolean => MICRO_FRACTION.test(text) && isRfc3339Time(text);
