/**
 * Implements immutable lists of items that belong to pods, with one item per UID. The lists are plain data, because
 * they are part of recordings. Each list has an index by UID and name, which is built once and passed on to the lists
 * derived from it.
 */

interface PodItem {
  readonly uid: string;
  readonly fullName: string;
}

interface ItemIndex {
  readonly itemByUid: Map<string, PodItem>;
  readonly itemsByName: Map<string, readonly PodItem[]>;
}

const indexes = new WeakMap<readonly PodItem[], ItemIndex>();

function getIndex(list: readonly PodItem[]): ItemIndex {
  const cachedIndex = indexes.get(list);
  if (cachedIndex !== undefined) return cachedIndex;
  const index: ItemIndex = { itemByUid: new Map(), itemsByName: new Map() };
  for (const item of list) replaceInIndex(index, undefined, item);
  indexes.set(list, index);
  return index;
}

function replaceInIndex(
  { itemByUid, itemsByName }: ItemIndex,
  previousItem: PodItem | undefined,
  nextItem: PodItem | undefined,
): void {
  if (previousItem !== undefined) {
    const otherItems = (itemsByName.get(previousItem.fullName) ?? []).filter((each) => each !== previousItem);
    if (otherItems.length > 0) itemsByName.set(previousItem.fullName, otherItems);
    else itemsByName.delete(previousItem.fullName);
    itemByUid.delete(previousItem.uid);
  }
  if (nextItem === undefined) return;
  itemByUid.set(nextItem.uid, nextItem);
  itemsByName.set(nextItem.fullName, [...(itemsByName.get(nextItem.fullName) ?? []), nextItem]);
}

function moveIndex<T extends PodItem>(list: readonly T[], nextList: readonly T[], before?: T, after?: T): readonly T[] {
  const index = getIndex(list);
  indexes.delete(list);
  replaceInIndex(index, before, after);
  indexes.set(nextList, index);
  return nextList;
}

export const findByUid = <T extends PodItem>(list: readonly T[], uid: string): T | undefined =>
  // Safe cast: the index of a list contains only items of that list.
  getIndex(list).itemByUid.get(uid) as T | undefined;

/** Returns the items with a full name, in no particular order. */
export const findByName = <T extends PodItem>(list: readonly T[], fullName: string): readonly T[] =>
  (getIndex(list).itemsByName.get(fullName) ?? []) as readonly T[];

/** Replaces the item with the same UID, or appends the item. */
export function withItem<T extends PodItem>(list: readonly T[], item: T): readonly T[] {
  const previousItem = findByUid(list, item.uid);
  const nextList = previousItem === undefined ? [...list, item] : list.with(list.indexOf(previousItem), item);
  return moveIndex(list, nextList, previousItem, item);
}

/** Removes the item with the given UID. Returns the same list if it contains no such item. */
export function withoutItem<T extends PodItem>(list: readonly T[], uid: string): readonly T[] {
  const previousItem = findByUid(list, uid);
  return previousItem === undefined
    ? list
    : moveIndex(list, list.toSpliced(list.indexOf(previousItem), 1), previousItem);
}
