import * as z from 'zod/mini';
import { lookUp } from '../../base/lookUp.ts';
import { nearest } from '../../base/nearest.ts';
import { beginningOf } from '../../base/shortText.ts';
import { quotingHint, writtenAt } from '../yaml/written.ts';

/** What is wrong with an object, and where: `spec.containers[0].image`, empty for the whole. */
export interface Problem {
  readonly path: string;
  readonly message: string;
}

/** The first of some problems, on one line. */
export function firstProblem([problem = { path: '', message: 'unreadable' }]: readonly Problem[]): string {
  return problem.path === '' ? problem.message : `${problem.path}: ${problem.message}`;
}

const LONGEST_VALUE = 200;

/** A value in a message, as JSON, or its beginning. */
export function shownValue(value: unknown): string {
  if (typeof value === 'bigint') return String(value);
  const json = inJson(typeof value === 'string' ? value.slice(0, LONGEST_VALUE + 1) : value);
  return json === undefined ? kindOf(value) : beginningOf(json, LONGEST_VALUE);
}

/** Undefined for what JSON does not know, such as a value that contains itself: programs give that, no file does. */
function inJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value, (_key, each: unknown) => (typeof each === 'bigint' ? Number(each) : each));
  } catch {
    return undefined;
  }
}

/** A field's path as Kubernetes writes it. */
export function fieldPath(keys: readonly PropertyKey[]): string {
  return keys.reduce<string>((path, key) => {
    if (typeof key === 'number') return `${path}[${key}]`;
    const name = String(key);
    if (/[./]/.test(name)) return `${path}[${name}]`;
    return path === '' ? name : `${path}.${name}`;
  }, '');
}

/**
 * Describes what a schema rejects in `input`, in Kubernetes's words. `source` is the value that the reader of YAML returned,
 * if `input` is a copy of it. The description of a secret value does not repeat it.
 */
export function problemOf(issue: z.core.$ZodIssue, input: unknown, source: unknown = input, isSecret = false): Problem {
  if (issue.code === 'unrecognized_keys')
    return { path: fieldPath([...issue.path, ...issue.keys.slice(0, 1)]), message: 'unknown field' };
  const written = expectsText(issue) ? writtenAt(source, issue.path) : undefined;
  const hint = written === undefined ? '' : quotingHint(written, isSecret);
  return { path: fieldPath(issue.path), message: messageOf(issue, valueAt(input, issue.path)) + hint };
}

/** Whether a string would have been accepted, or might have been. */
function expectsText(issue: z.core.$ZodIssue): boolean {
  switch (issue.code) {
    case 'invalid_type':
      return issue.expected === 'string';
    case 'invalid_value':
      return issue.values.some((value) => typeof value === 'string');
    case 'invalid_union':
      return issue.errors.flat().some(expectsText);
    default:
      return false;
  }
}

function messageOf(issue: z.core.$ZodIssue, value: unknown): string {
  if (value === undefined) return 'Required value';
  // Of such a number only an approximation was read.
  if (isHuge(value) && mayBeNumber(issue))
    return `Invalid value: the number is too ${value > 0 ? 'large' : 'small'}${boundOf(issue)}`;
  switch (issue.code) {
    case 'invalid_type':
      return `expected ${wordFor(issue.expected)}, got ${kindOf(value)}`;
    case 'invalid_union':
      return `expected ${expectations(issue).join(' or ')}, got ${kindOf(value)}`;
    case 'invalid_value':
      return `Unsupported value: ${shownValue(value)}: supported values: ${issue.values.map((each) => JSON.stringify(each)).join(', ')}`;
    case 'too_big':
      if (typeof value === 'string' || Array.isArray(value)) return `expected it to be at most ${issue.maximum} long`;
      return `Invalid value: ${String(value)}: must be less than or equal to ${issue.maximum}`;
    case 'too_small':
      if (typeof value === 'string' || Array.isArray(value)) return 'expected it not to be empty';
      return `Invalid value: ${String(value)}: must be greater than or equal to ${issue.minimum}`;
    default:
      return `Invalid value: ${shownValue(value)}: ${issue.message}`;
  }
}

const isHuge = (value: unknown): value is number | bigint =>
  (typeof value === 'bigint' || typeof value === 'number') && Math.abs(Number(value)) > Number.MAX_SAFE_INTEGER;

/** Where a text belongs, such as a label that has to be quoted, no smaller number would do. */
const mayBeNumber = (issue: z.core.$ZodIssue): boolean =>
  issue.code !== 'invalid_type' || issue.expected === 'number' || issue.expected === 'int';

function boundOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'too_big') return `: must be less than or equal to ${issue.maximum}`;
  return issue.code === 'too_small' ? `: must be greater than or equal to ${issue.minimum}` : '';
}

function expectations(issue: z.core.$ZodIssueInvalidUnion): string[] {
  const words = issue.errors.flat().flatMap((each) => {
    if (each.code === 'invalid_type') return [wordFor(each.expected)];
    return each.code === 'invalid_value' ? each.values.map(String) : ['a number'];
  });
  return [...new Set(words)];
}

const WORDS: Readonly<Record<string, string>> = { bigint: 'number', int: 'an integer', record: 'object' };

function wordFor(expected: string): string {
  return lookUp(WORDS, expected) ?? expected;
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  // The reader of YAML returns an integer that a number would round as a bigint.
  if (typeof value === 'bigint' && isHuge(value)) return 'number';
  if (typeof value !== 'number' || Number.isInteger(value)) return typeof value;
  return Number.isFinite(value) ? 'a fraction' : String(value);
}

/** What stands at a path, of own fields or inherited ones: only to be looked at. */
export function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (at, key) => (typeof at === 'object' && at !== null ? Reflect.get(at, key) : undefined),
    value,
  );
}

/** Says that a field is unknown, or `what` it is, and, if wanted, which known one was likely meant. */
export function unknownField(
  schema: z.core.$ZodType,
  path: readonly PropertyKey[],
  key: string,
  isHinted: boolean,
  what = 'unknown field',
): Problem {
  const meant = isHinted ? nearest(key, knownKeys(schema, path)) : undefined;
  const hint = meant === undefined ? '' : `, did you mean "${meant}"?`;
  return { path: fieldPath([...path, key]), message: `${what}${hint}` };
}

/** The fields that a schema knows at a path. */
function knownKeys(schema: z.core.$ZodType, path: readonly PropertyKey[]): string[] {
  if (schema instanceof z.ZodMiniExactOptional) return knownKeys(schema.def.innerType, path);
  const [key, ...rest] = path;
  if (schema instanceof z.ZodMiniArray) return knownKeys(schema.def.element, rest);
  if (!(schema instanceof z.ZodMiniObject)) return [];
  if (key === undefined) return Object.keys(schema.def.shape);
  const inner = lookUp(schema.def.shape, String(key));
  return inner === undefined ? [] : knownKeys(inner, rest);
}
