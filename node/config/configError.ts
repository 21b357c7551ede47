import type * as z from 'zod/mini';
import { shortText, truncate } from '../../base/shortText.ts';
import { quotingHint, sourceTextAt } from '../../kubernetes/yaml/sourceText.ts';

/** A mistake in what the user gave: its message is for them, as it is, and the process exits with 1. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

function fieldPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>((before, step) => {
    if (typeof step === 'number') return `${before}[${step}]`;
    return before === '' ? String(step) : `${before}.${String(step)}`;
  }, '');
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, step) => {
    // Only own fields: the path was walked by the schema, but the input is still of any shape.
    return typeof value === 'object' && value !== null ? Reflect.get(value, step) : undefined;
  }, input);
}

const LONGEST_SHOWN = 60;

function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === Number.POSITIVE_INFINITY) return 'a number that is too large';
  if (value === Number.NEGATIVE_INFINITY) return 'a number that is too small';
  return truncate(JSON.stringify(value) ?? String(value), LONGEST_SHOWN);
}

/** What may hold a password or a token, which no message repeats. */
const SECRETS: readonly PropertyKey[] = [
  '--manifest-url',
  '--manifest-url-header',
  'staticPodURL',
  'staticPodURLHeader',
];

function linesOf(issue: z.core.$ZodIssue, input: unknown, source: unknown): string[] {
  const path = fieldPath(issue.path);
  if (issue.code === 'unrecognized_keys') {
    return issue.message.split('\n').map((line) => (path === '' ? line : `${path}.${line}`));
  }
  const [field = ''] = issue.path;
  const isShown = issue.message.startsWith('expected') && !SECRETS.includes(field);
  const got = isShown ? `, got ${shown(valueAt(input, issue.path))}` : '';
  return [`${path === '' ? '' : `${path}: `}${issue.message}${got}${hintOf(issue, input, source)}`];
}

/** Explains a value that was not read as text. It is a secret if `input` hides it. */
function hintOf({ message, path }: z.core.$ZodIssue, input: unknown, source: unknown): string {
  const written = /\b(?:string|text)\b/.test(message) ? sourceTextAt(source, path) : undefined;
  if (written === undefined) return '';
  const isSecret = valueAt(input, path) !== valueAt(source, path) || SECRETS.some((field) => field === path[0]);
  return quotingHint(written, isSecret);
}

const MOST_LINES = 50;
const LONGEST_LINE = 500;

const cut = (line: string): string => truncate(shortText(line, LONGEST_LINE), LONGEST_LINE);

/**
 * Describes what a schema rejects in `input`, one line for each mistake: "field: expected …, got …". `source` is the value
 * that the reader of YAML returned, if `input` is a copy of it.
 */
export function describeIssues(issues: readonly z.core.$ZodIssue[], input: unknown, source: unknown = input): string[] {
  const lines = issues.flatMap((issue) => linesOf(issue, input, source)).map(cut);
  const more = lines.length - MOST_LINES;
  return more > 0 ? [...lines.slice(0, MOST_LINES), `and ${more} more errors`] : lines;
}
