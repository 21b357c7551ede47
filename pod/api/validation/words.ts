import { type Problem, shownValue } from '../problem.ts';
import { dnsLabel as labelProblems, dnsSubdomain as subdomainProblems } from './nameRules.ts';

/** A check's result, in Kubernetes's words: nothing, or one problem at the path. */
export function invalid(path: string, value: unknown, detail: string): Problem {
  return { path, message: `Invalid value: ${shownValue(value)}: ${detail}` };
}

export function required(path: string, detail?: string): Problem {
  return { path, message: detail === undefined ? 'Required value' : `Required value: ${detail}` };
}

export const tooMany = (path: string, has: number, most: number): Problem => ({
  path,
  message: `Too many: ${has}: must have at most ${most} items`,
});

export function forbidden(path: string, detail: string): Problem {
  return { path, message: `Forbidden: ${detail}` };
}

export const dnsLabel = (path: string, value: string): Problem[] => named(path, value, labelProblems);

export const dnsSubdomain = (path: string, value: string): Problem[] => named(path, value, subdomainProblems);

const named = (path: string, value: string, problems: (value: string) => string[]): Problem[] =>
  value === '' ? [required(path)] : problems(value).map((why) => invalid(path, value, why));

export function portNumber(path: string, value: number): Problem[] {
  return value >= 1 && value <= 65535 ? [] : [invalid(path, value, 'must be between 1 and 65535, inclusive')];
}

export function notNegative(path: string, value: number | undefined): Problem[] {
  return value !== undefined && value < 0 ? [invalid(path, value, 'must be greater than or equal to 0')] : [];
}

/** Reports every value that stands a second time; `path` says where an index is. */
export function duplicates(values: readonly string[], path: (index: number) => string): Problem[] {
  const seen = new Set<string>();
  return values.flatMap((value, index) => {
    const isRepeated = value !== '' && seen.has(value);
    seen.add(value);
    return isRepeated ? [{ path: path(index), message: `Duplicate value: ${shownValue(value)}` }] : [];
  });
}

/** A path below a volume: relative, and never upwards (C26). */
export function pathInVolume(path: string, value: string): Problem[] {
  if (value.startsWith('/')) return [invalid(path, value, 'must be a relative path')];
  return value.split('/').includes('..') ? [invalid(path, value, "must not contain '..'")] : [];
}
