import { lookUp } from './lookUp.ts';

/** Whether two values are the same JSON: the order of keys does not count, and a key without a value is none. */
export function sameValue(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (!isObject(a) || !isObject(b) || Array.isArray(a) !== Array.isArray(b)) return false;
  for (const key of Object.keys(a)) if (!sameValue(lookUp(a, key), lookUp(b, key))) return false;
  for (const key of Object.keys(b)) if (lookUp(b, key) !== undefined && lookUp(a, key) === undefined) return false;
  return true;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
