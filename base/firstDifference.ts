import { lookUp } from './lookUp.ts';

/** Where two JSON values first differ. */
export interface ValueDifference {
  /** `.status.phase`; empty where they differ as a whole. */
  readonly path: string;
  readonly one: unknown;
  readonly other: unknown;
}

/** The deepest place at which two JSON values first differ, and what is there of each; undefined where they are the same. */
export function firstDifference(one: unknown, other: unknown, path = ''): ValueDifference | undefined {
  if (Object.is(one, other)) return undefined;
  if (!isObject(one) || !isObject(other)) return { path, one, other };
  for (const key of new Set([...Object.keys(one), ...Object.keys(other)])) {
    const found = firstDifference(lookUp(one, key), lookUp(other, key), `${path}.${key}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
