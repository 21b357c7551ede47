import type * as z from 'zod/mini';
import { INTEGER_BOUNDS } from './decodeScalar.ts';
import type { Mismatch } from './decodeValue.ts';
import type { GoType, ScalarKind } from './goType.ts';

/** An issue that a schema itself can report. */
type Issue = { readonly input: unknown } & (
  | z.core.$ZodIssueInvalidType
  | z.core.$ZodIssueInvalidUnion
  | z.core.$ZodIssueInvalidValue
  | z.core.$ZodIssueTooBig
  | z.core.$ZodIssueTooSmall
  | z.core.$ZodIssueInvalidStringFormat
  | z.core.$ZodIssueCustom
);

type ExpectedType = z.core.$ZodIssueInvalidType['expected'];

/** The JSON types that each kind of value can be decoded from. */
const EXPECTED_TYPES: Readonly<Record<Exclude<GoType['kind'], 'any'>, readonly ExpectedType[]>> = {
  object: ['object'],
  map: ['object'],
  list: ['array'],
  string: ['string'],
  bytes: ['string'],
  boolean: ['boolean'],
  int32: ['number'],
  int64: ['number'],
  number: ['number'],
  quantity: ['string', 'number'],
  time: ['string'],
  microTime: ['string'],
  intOrString: ['number', 'string'],
};

const FORMATS: ReadonlyMap<GoType['kind'], string> = new Map<ScalarKind, string>([
  ['quantity', 'must be a quantity such as "100m", "1.5" or "64Mi"'],
  ['time', 'must be a time such as "2006-01-02T15:04:05Z"'],
  ['microTime', 'must be a time such as "2006-01-02T15:04:05.000000Z"'],
]);

/**
 * Converts a mismatch to the issue that a schema would report, so that mismatches and schema issues are described in
 * the same words.
 */
export function mismatchIssue({ path, value, type, reason }: Mismatch): Issue {
  const location = { path: [...path], input: value, message: '' };
  switch (reason) {
    case 'unsupported':
      return { ...location, code: 'invalid_value', values: [...supportedValuesOf(type)] };
    case 'format':
      return type.kind === 'bytes'
        ? {
            ...location,
            input: String(value),
            code: 'invalid_format',
            format: 'base64',
            message: 'illegal base64 data',
          }
        : { ...location, code: 'custom', message: FORMATS.get(type.kind) ?? '' };
    case 'range':
      return { ...location, ...rangeIssue(Number(value), type.kind === 'int64' ? 'int64' : 'int32') };
    default:
      return typeIssue(expectedTypesOf(type, reason === 'fraction'), location);
  }
}

const supportedValuesOf = (type: GoType): readonly string[] => ('supported' in type ? (type.supported ?? []) : []);

function expectedTypesOf({ kind }: GoType, isFraction: boolean): readonly ExpectedType[] {
  const expected = kind === 'any' ? [] : EXPECTED_TYPES[kind];
  return isFraction ? expected.map((each) => (each === 'number' ? 'int' : each)) : expected;
}

function rangeIssue(value: number, kind: keyof typeof INTEGER_BOUNDS) {
  const { min, max } = INTEGER_BOUNDS[kind];
  return value > max
    ? ({ code: 'too_big', origin: 'number', maximum: max } as const)
    : ({ code: 'too_small', origin: 'number', minimum: min } as const);
}

function typeIssue(
  expectedTypes: readonly ExpectedType[],
  location: Pick<z.core.$ZodIssueInvalidType, 'path' | 'message'> & { readonly input: unknown },
): Issue {
  const issues = expectedTypes.map((expected) => ({ ...location, code: 'invalid_type' as const, expected }));
  const [issue] = issues;
  return issue !== undefined && issues.length === 1
    ? issue
    : { ...location, code: 'invalid_union', errors: issues.map((each) => [each]) };
}
