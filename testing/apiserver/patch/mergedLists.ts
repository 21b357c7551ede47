/** The identity and order of list entries in strategic merge patches. */

import { isJsonEqual } from '../../../base/values/isJsonEqual.ts';
import { lookUp } from '../../../base/values/lookUp.ts';
import { goText } from '../failures/goText.ts';
import { isObject, type Json, type JsonList, type JsonObject } from '../json.ts';
import { PatchError } from './patchError.ts';

/** The merge key of an entry, or the entry itself without a merge key. */
export function keyOf(entry: Json, mergeKey: string | undefined): Json {
  if (mergeKey === undefined) return entry;
  const key = isObject(entry) ? lookUp(entry, mergeKey) : undefined;
  if (key === undefined) throw new PatchError(`map: ${goText(entry)} does not contain declared merge key: ${mergeKey}`);
  return key;
}

/** The index of the entry with a key, or -1. */
export const indexOf = (list: JsonList, key: Json, mergeKey: string | undefined): number =>
  list.findIndex((each) => isJsonEqual(keyOf(each, mergeKey), key));

interface Order {
  /** The order in the patch. */
  readonly asked: JsonList;
  /**
   * The order before the patch. Entries that are not in the patch keep their positions among the others as far as
   * possible.
   */
  readonly known: JsonList;
  readonly mergeKey: string | undefined;
}

/** Sorts a merged list (`normalizeElementOrder`, `mergeSortedSlice`). */
export function sortMergedList(merged: JsonList, { asked, known, mergeKey }: Order): JsonList {
  const place = (list: JsonList) => (entry: Json) => indexOf(list, keyOf(entry, mergeKey), mergeKey);
  const [askedAt, knownAt] = [place(asked), place(known)];
  const ofPatch = merged.filter((entry) => askedAt(entry) >= 0).sort((a, b) => askedAt(a) - askedAt(b));
  const ofServer = merged.filter((entry) => askedAt(entry) < 0).sort((a, b) => knownAt(a) - knownAt(b));
  const ordered: Json[] = [];
  for (const entry of ofPatch) {
    const at = knownAt(entry);
    while (ofServer[0] !== undefined && at >= 0 && knownAt(ofServer[0]) < at) ordered.push(...ofServer.splice(0, 1));
    ordered.push(entry);
  }
  return [...ordered, ...ofServer];
}

/** Throws if the entries of a patch are in a different order than its `$setElementOrder`. */
export function checkOrder(patch: JsonList, asked: JsonList, mergeKey: string | undefined): void {
  if (patch.length === 0 || asked.length === 0) return;
  const entries = patch.filter((entry) => !isDirective(entry));
  let next = 0;
  for (const each of asked) {
    const entry = entries[next];
    if (entry !== undefined && isJsonEqual(keyOf(entry, mergeKey), keyOf(each, mergeKey))) next += 1;
  }
  if (next >= entries.length) return;
  const [given, order] = [patch, asked].map(goText);
  throw new PatchError(`The order in patch list:\n${given}\n doesn't match $setElementOrder list:\n${order}\n`);
}

const isDirective = (entry: Json): entry is JsonObject => isObject(entry) && Object.hasOwn(entry, '$patch');
