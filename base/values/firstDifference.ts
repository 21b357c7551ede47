import { isObject } from './isObject.ts';
import { lookUp } from './lookUp.ts';

/** The first difference between two JSON values. */
export interface ValueDifference {
  /** Path of the difference, e.g. `.status.phase`. Empty if the values differ as a whole. */
  readonly path: string;
  readonly left: unknown;
  readonly right: unknown;
}

/**
 * Returns the deepest path at which two JSON values first differ, with both values at that path, or undefined if they
 * are equal.
 */
export function firstDifference(left: unknown, right: unknown, path = ''): ValueDifference | undefined {
  if (Object.is(left, right)) return undefined;
  if (!isObject(left) || !isObject(right)) return { path, left, right };
  for (const key of new Set([...Object.keys(left), ...Object.keys(right)])) {
    const difference = firstDifference(lookUp(left, key), lookUp(right, key), `${path}.${key}`);
    if (difference !== undefined) return difference;
  }
  return undefined;
}
