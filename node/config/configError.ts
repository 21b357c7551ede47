import type * as z from 'zod/mini';
import { shortText, truncate } from '../../base/text/shortText.ts';
import { quotingHint, sourceTextAt } from '../../kubernetes/yaml/sourceText.ts';
import { secretNames } from './settings/allSettings.ts';

/** An error in the user's configuration. Its message is printed unchanged, and the process exits with code 1. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

function fieldPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>((before, step) => {
    if (typeof step === 'number') return `${before}[${step}]`;
    return before === '' ? String(step) : `${before}.${String(step)}`;
  }, '');
}

function findValue(input: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, step) => {
    // Check the type at run time, because the static type of the input is unknown.
    return typeof value === 'object' && value !== null ? Reflect.get(value, step) : undefined;
  }, input);
}

const MAX_VALUE_LENGTH = 60;

const toJsonNumber = (_key: string, value: unknown): unknown => (typeof value === 'bigint' ? Number(value) : value);

function describeValue(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === Number.POSITIVE_INFINITY) return 'a number that is too large';
  if (value === Number.NEGATIVE_INFINITY) return 'a number that is too small';
  if (typeof value === 'bigint') return String(value);
  return truncate(JSON.stringify(value, toJsonNumber) ?? String(value), MAX_VALUE_LENGTH);
}

/** Whether a field or flag may contain a password or token, which must not appear in messages. */
const isSecretField = (name: PropertyKey | undefined): boolean => secretNames().some((secret) => secret === name);

function describeIssue(issue: z.core.$ZodIssue, input: unknown, source: unknown): string[] {
  const path = fieldPath(issue.path);
  if (issue.code === 'unrecognized_keys') {
    return issue.message.split('\n').map((line) => (path === '' ? line : `${path}.${line}`));
  }
  const [field] = issue.path;
  const canShowValue = issue.message.startsWith('expected') && !isSecretField(field);
  const got = canShowValue ? `, got ${describeValue(findValue(input, issue.path))}` : '';
  return [`${path === '' ? '' : `${path}: `}${issue.message}${got}${explainYamlType(issue, input, source)}`];
}

/**
 * Explains why YAML has parsed a value as something other than a string. The value is treated as secret if `input`
 * contains a mask in its place.
 */
function explainYamlType({ message, path }: z.core.$ZodIssue, input: unknown, source: unknown): string {
  const sourceText = /\b(?:string|text)\b/.test(message) ? sourceTextAt(source, path) : undefined;
  if (sourceText === undefined) return '';
  const isSecret = findValue(input, path) !== findValue(source, path) || isSecretField(path[0]);
  return quotingHint(sourceText, isSecret);
}

const MAX_LINES = 50;
const MAX_LINE_LENGTH = 500;

const shortenLine = (line: string): string => truncate(shortText(line, MAX_LINE_LENGTH), MAX_LINE_LENGTH);

/**
 * Describes why a schema rejects `input`, with one line per error: "field: expected …, got …". `source` is the value as
 * parsed from YAML, and differs from `input` if `input` is a modified copy.
 */
export function describeIssues(issues: readonly z.core.$ZodIssue[], input: unknown, source: unknown = input): string[] {
  const lines = issues.flatMap((issue) => describeIssue(issue, input, source)).map(shortenLine);
  const hiddenCount = lines.length - MAX_LINES;
  return hiddenCount > 0 ? [...lines.slice(0, MAX_LINES), `and ${hiddenCount} more errors`] : lines;
}
