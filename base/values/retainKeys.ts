/** Deletes the entries of `map` whose key is not in `keys`. */
export function retainKeys<Key>(map: Map<Key, unknown>, keys: ReadonlySet<Key>): void {
  for (const key of map.keys()) if (!keys.has(key)) map.delete(key);
}
