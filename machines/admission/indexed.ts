/**
 * Implements immutable lists of items that belong to pods, with one item per UID. They are plain data, because they are
 * recorded. Each list has an index by UID and name, which is built once and passed on to the lists derived from it.
 */

interface OfPod {
  readonly uid: string;
  readonly fullName: string;
}

interface Index {
  readonly byUid: Map<string, OfPod>;
  readonly byName: Map<string, readonly OfPod[]>;
}

const indexes = new WeakMap<readonly OfPod[], Index>();

function indexOf(list: readonly OfPod[]): Index {
  const known = indexes.get(list);
  if (known !== undefined) return known;
  const index: Index = { byUid: new Map(), byName: new Map() };
  for (const item of list) exchange(index, undefined, item);
  indexes.set(list, index);
  return index;
}

function exchange({ byUid, byName }: Index, before: OfPod | undefined, after: OfPod | undefined): void {
  if (before !== undefined) {
    const others = (byName.get(before.fullName) ?? []).filter((each) => each !== before);
    if (others.length > 0) byName.set(before.fullName, others);
    else byName.delete(before.fullName);
    byUid.delete(before.uid);
  }
  if (after === undefined) return;
  byUid.set(after.uid, after);
  byName.set(after.fullName, [...(byName.get(after.fullName) ?? []), after]);
}

function followedBy<T extends OfPod>(list: readonly T[], next: readonly T[], before?: T, after?: T): readonly T[] {
  const index = indexOf(list);
  indexes.delete(list);
  exchange(index, before, after);
  indexes.set(next, index);
  return next;
}

export const find = <T extends OfPod>(list: readonly T[], uid: string): T | undefined =>
  // The index of a list contains only items of that list.
  indexOf(list).byUid.get(uid) as T | undefined;

/** Returns the items with a full name, in no particular order. */
export const named = <T extends OfPod>(list: readonly T[], fullName: string): readonly T[] =>
  (indexOf(list).byName.get(fullName) ?? []) as readonly T[];

/** Replaces the item with the same UID, or appends the item. */
export function put<T extends OfPod>(list: readonly T[], item: T): readonly T[] {
  const before = find(list, item.uid);
  const next = before === undefined ? [...list, item] : list.with(list.indexOf(before), item);
  return followedBy(list, next, before, item);
}

/** Removes the item with this UID. Returns the same list if it contains no such item. */
export function drop<T extends OfPod>(list: readonly T[], uid: string): readonly T[] {
  const before = find(list, uid);
  return before === undefined ? list : followedBy(list, list.toSpliced(list.indexOf(before), 1), before);
}
