/**
 * A map with these in it, at names that it has or has not. With one more at a time V8 keeps its shape: then it is copied in
 * no time, where one of hundreds of names that is made of a list takes a tenth of a millisecond, at each change of a pod.
 */
export function withEntries<T>(
  map: Readonly<Record<string, T>>,
  entries: readonly (readonly [string, T])[],
): Readonly<Record<string, T>> {
  const [first, ...others] = entries;
  if (first === undefined) return map;
  if (others.length > 0) return Object.fromEntries([...Object.entries(map), ...entries]);
  const [name, value] = first;
  return { ...map, [name]: value };
}

/** A map without this name; the same one where it has none of it. */
export function withoutEntry<T>(map: Readonly<Record<string, T>>, name: string): Readonly<Record<string, T>> {
  if (!Object.hasOwn(map, name)) return map;
  const { [name]: _, ...others } = map;
  return others;
}
