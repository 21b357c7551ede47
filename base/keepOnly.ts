/** Forgets of what is kept in a map all that has another key than these. */
export function keepOnly<Key>(kept: Map<Key, unknown>, keys: ReadonlySet<Key>): void {
  for (const key of kept.keys()) if (!keys.has(key)) kept.delete(key);
}
