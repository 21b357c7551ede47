/**
 * Implements immutable lists of items that belong to pods, with one item per UID. The lists are plain data, because
 * they are part of recordings. Each list has an index by UID and name.
 */
import { VersionedIndex } from '../../base/values/versionedIndex.ts';

interface PodItem {
  readonly uid: string;
  readonly fullName: string;
}

interface ItemIndex {
  readonly itemByUid: Map<string, PodItem>;
  readonly itemsByName: Map<string, readonly PodItem[]>;
}

const indexes = new VersionedIndex((list: readonly PodItem[]) => {
  const index: ItemIndex = { itemByUid: new Map(), itemsByName: new Map() };
  for (const item of list) replaceInIndex(index, undefined, item);
  return index;
});

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

export const findByUid = <T extends PodItem>(list: readonly T[], uid: string): T | undefined =>
  // Safe cast: the index of a list contains only items of that list.
  indexes.of(list).itemByUid.get(uid) as T | undefined;

/** Returns the items with a full name, in no particular order. */
export const findByName = <T extends PodItem>(list: readonly T[], fullName: string): readonly T[] =>
  (indexes.of(list).itemsByName.get(fullName) ?? []) as readonly T[];

/** Replaces the item with the same UID, or appends the item. */
export function withItem<T extends PodItem>(list: readonly T[], item: T): readonly T[] {
  const previousItem = findByUid(list, item.uid);
  const nextList = previousItem === undefined ? [...list, item] : list.with(list.indexOf(previousItem), item);
  return indexes.advance(list, nextList, (index) => replaceInIndex(index, previousItem, item));
}

/** Removes the item with the given UID. Returns the same list if it contains no such item. */
export function withoutItem<T extends PodItem>(list: readonly T[], uid: string): readonly T[] {
  const previousItem = findByUid(list, uid);
  if (previousItem === undefined) return list;
  const nextList = list.toSpliced(list.indexOf(previousItem), 1);
  return indexes.advance(list, nextList, (index) => replaceInIndex(index, previousItem, undefined));
}
