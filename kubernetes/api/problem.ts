import type * as z from 'zod/mini';
import { closestWord } from '../../base/text/closestWord.ts';
import { truncate } from '../../base/text/shortText.ts';
import { lookUp } from '../../base/values/lookUp.ts';
import { quotingHint, sourceTextAt } from '../yaml/sourceText.ts';
import type { UnknownField } from './decode/decodeValue.ts';

/**
 * A validation problem with the path of the field, e.g. `spec.containers[0].image`. The path is empty if the whole
 * object is wrong.
 */
export interface Problem {
  readonly path: string;
  readonly message: string;
}

/** Formats the first of several problems on one line. */
export function formatFirstProblem([problem = { path: '', message: 'unreadable' }]: readonly Problem[]): string {
  return problem.path === '' ? problem.message : `${problem.path}: ${problem.message}`;
}

const MAX_VALUE_LENGTH = 200;

/** Formats a value as JSON for a message and truncates it if it is long. */
export function formatValue(value: unknown): string {
  if (typeof value === 'bigint') return String(value);
  const json = toJson(typeof value === 'string' ? value.slice(0, MAX_VALUE_LENGTH + 1) : value);
  return json === undefined ? describeType(value) : truncate(json, MAX_VALUE_LENGTH);
}

/**
 * Formats a value as JSON. Returns undefined if that is impossible, e.g. because a value that was created by code
 * contains a reference to itself.
 */
function toJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value, (_key, each: unknown) => (typeof each === 'bigint' ? Number(each) : each));
  } catch {
    return undefined;
  }
}

/** Formats a field path in the notation of Kubernetes. */
export function fieldPath(keys: readonly PropertyKey[]): string {
  return keys.reduce<string>((path, key) => {
    if (typeof key === 'number') return `${path}[${key}]`;
    const name = String(key);
    if (/[./]/.test(name)) return `${path}[${name}]`;
    return path === '' ? name : `${path}.${name}`;
  }, '');
}

/**
 * Describes a schema issue in the wording of Kubernetes, without revealing a secret value. If `input` comes from the
 * YAML reader, which records source texts, the message can also suggest putting a value in quotes.
 */
export function problemOf(issue: z.core.$ZodIssue, input: unknown, isSecret = false): Problem {
  if (issue.code === 'unrecognized_keys')
    return { path: fieldPath([...issue.path, ...issue.keys.slice(0, 1)]), message: 'unknown field' };
  const originalText = mayAcceptString(issue) ? sourceTextAt(input, issue.path) : undefined;
  const hint = originalText === undefined ? '' : quotingHint(originalText, isSecret);
  return { path: fieldPath(issue.path), message: messageOf(issue, valueAt(input, issue.path)) + hint };
}

/** Whether the schema accepts, or might accept, a string. */
function mayAcceptString(issue: z.core.$ZodIssue): boolean {
  switch (issue.code) {
    case 'invalid_type':
      return issue.expected === 'string';
    case 'invalid_value':
      return issue.values.some((value) => typeof value === 'string');
    case 'invalid_union':
      return issue.errors.flat().some(mayAcceptString);
    default:
      return false;
  }
}

function messageOf(issue: z.core.$ZodIssue, value: unknown): string {
  if (value === undefined) return 'Required value';
  // Do not quote a huge number, because it was parsed only approximately.
  if (isHuge(value) && mayAcceptNumber(issue))
    return `Invalid value: the number is too ${value > 0 ? 'large' : 'small'}${formatBound(issue)}`;
  switch (issue.code) {
    case 'invalid_type':
      return `expected ${typeName(issue.expected)}, got ${describeType(value)}`;
    case 'invalid_union':
      return `expected ${expectedTypes(issue).join(' or ')}, got ${describeType(value)}`;
    case 'invalid_value':
      return `Unsupported value: ${formatValue(value)}: supported values: ${issue.values.map((each) => JSON.stringify(each)).join(', ')}`;
    case 'too_big':
      if (typeof value === 'string' || Array.isArray(value)) return `expected it to be at most ${issue.maximum} long`;
      return `Invalid value: ${String(value)}: must be less than or equal to ${issue.maximum}`;
    case 'too_small':
      if (typeof value === 'string' || Array.isArray(value)) return 'expected it not to be empty';
      return `Invalid value: ${String(value)}: must be greater than or equal to ${issue.minimum}`;
    case 'invalid_format':
      if (issue.format === 'base64') return `Invalid value: ${issue.message}`;
      return `Invalid value: ${formatValue(value)}: ${issue.message}`;
    default:
      return `Invalid value: ${formatValue(value)}: ${issue.message}`;
  }
}

const isHuge = (value: unknown): value is number | bigint =>
  (typeof value === 'bigint' || typeof value === 'number') && Math.abs(Number(value)) > Number.MAX_SAFE_INTEGER;

/**
 * Whether the schema may accept a number. If the schema accepts only strings, e.g. for a label value that must be
 * quoted, a message about the size of the number would not help.
 */
const mayAcceptNumber = (issue: z.core.$ZodIssue): boolean =>
  issue.code !== 'invalid_type' || issue.expected === 'number' || issue.expected === 'int';

function formatBound(issue: z.core.$ZodIssue): string {
  if (issue.code === 'too_big') return `: must be less than or equal to ${issue.maximum}`;
  return issue.code === 'too_small' ? `: must be greater than or equal to ${issue.minimum}` : '';
}

function expectedTypes(issue: z.core.$ZodIssueInvalidUnion): string[] {
  const typeNames = issue.errors.flat().flatMap((each) => {
    if (each.code === 'invalid_type') return [typeName(each.expected)];
    return each.code === 'invalid_value' ? each.values.map(String) : ['a number'];
  });
  return [...new Set(typeNames)];
}

const TYPE_NAMES: Readonly<Record<string, string>> = { bigint: 'number', int: 'an integer', record: 'object' };

function typeName(expected: string): string {
  return lookUp(TYPE_NAMES, expected) ?? expected;
}

function describeType(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  // Describe a huge bigint as a number, because the YAML reader returns an integer as a bigint if a number cannot
  // represent it exactly.
  if (typeof value === 'bigint' && isHuge(value)) return 'number';
  if (typeof value !== 'number' || Number.isInteger(value)) return typeof value;
  return Number.isFinite(value) ? 'a fraction' : String(value);
}

/** Returns the value at a path. */
function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (current, key) => (typeof current === 'object' && current !== null ? Reflect.get(current, key) : undefined),
    value,
  );
}

/**
 * Creates the problem for an unknown field. The message starts with `title` and, if `isHinted`, suggests the most
 * similar known field.
 */
export function unknownField(
  { path, name, struct }: UnknownField,
  isHinted: boolean,
  title = 'unknown field',
): Problem {
  const suggestion = isHinted ? closestWord(name, struct.fields) : undefined;
  const hint = suggestion === undefined ? '' : `, did you mean "${suggestion}"?`;
  return { path: fieldPath([...path, name]), message: `${title}${hint}` };
}
