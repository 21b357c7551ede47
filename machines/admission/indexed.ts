/**
 * Lists of what concerns pods, one item of each uid, as plain data that can be written down. What finds an item quickly is
 * made of a list once, and goes over to the list that follows from it.
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
  // Only what is in the list is in its index.
  indexOf(list).byUid.get(uid) as T | undefined;

/** Those with a full name, in no order. */
export const named = <T extends OfPod>(list: readonly T[], fullName: string): readonly T[] =>
  (indexOf(list).byName.get(fullName) ?? []) as readonly T[];

/** The list with this item in the place of the one of its uid, or at the end. */
export function put<T extends OfPod>(list: readonly T[], item: T): readonly T[] {
  const before = find(list, item.uid);
  const next = before === undefined ? [...list, item] : list.with(list.indexOf(before), item);
  return followedBy(list, next, before, item);
}

/** The list without what is of this uid; the same list when there is nothing. */
export function drop<T extends OfPod>(list: readonly T[], uid: string): readonly T[] {
  const before = find(list, uid);
  return before === undefined ? list : followedBy(list, list.toSpliced(list.indexOf(before), 1), before);
}
