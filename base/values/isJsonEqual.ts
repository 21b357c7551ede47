import { isObject } from './isObject.ts';
import { lookUp } from './lookUp.ts';

/**
 * Whether two values are equal as JSON. The order of keys is ignored, and an undefined value is treated as a missing
 * key.
 */
export function isJsonEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (!isObject(a) || !isObject(b) || Array.isArray(a) !== Array.isArray(b)) return false;
  // Use `lookUp` instead of a loop over entries, because this runs on every object from the API server and must not
  // allocate an object per key.
  return (
    Object.keys(a).every((key) => isJsonEqual(lookUp(a, key), lookUp(b, key))) &&
    Object.keys(b).every((key) => lookUp(b, key) === undefined || lookUp(a, key) !== undefined)
  );
}
