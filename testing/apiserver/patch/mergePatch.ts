/** JSON merge patches (RFC 7386). */
import { isObject, type Json, objectOf } from '../json.ts';

/** Returns the value with a patch applied. Null removes a field, and any other value except an object replaces it. */
export function mergePatch(value: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch;
  const merged = new Map(Object.entries(isObject(value) ? value : {}));
  for (const [name, change] of Object.entries(patch)) {
    if (change === null) merged.delete(name);
    else merged.set(name, mergePatch(merged.get(name), change));
  }
  return objectOf(merged);
}
