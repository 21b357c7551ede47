import { lookUp } from './lookUp.ts';

/** Whether two values are the same JSON: the order of keys does not count, and a key without a value is none. */
export function sameValue(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (!isObject(a) || !isObject(b) || Array.isArray(a) !== Array.isArray(b)) return false;
  // It is asked of all that an API server says: a loop over the keys would make an object for each.
  return (
    Object.keys(a).every((key) => sameValue(lookUp(a, key), lookUp(b, key))) &&
    Object.keys(b).every((key) => lookUp(b, key) === undefined || lookUp(a, key) !== undefined)
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
