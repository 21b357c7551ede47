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
  readonly requested: JsonList;
  /**
   * The order before the patch. Entries that are not in the patch keep their positions among the others as far as
   * possible.
   */
  readonly known: JsonList;
  readonly mergeKey: string | undefined;
}

/** Sorts a merged list (`normalizeElementOrder`, `mergeSortedSlice`). */
export function sortMergedList(merged: JsonList, { requested, known, mergeKey }: Order): JsonList {
  const indexIn = (list: JsonList) => (entry: Json) => indexOf(list, keyOf(entry, mergeKey), mergeKey);
  const [requestedAt, knownAt] = [indexIn(requested), indexIn(known)];
  const ofPatch = merged.filter((entry) => requestedAt(entry) >= 0).sort((a, b) => requestedAt(a) - requestedAt(b));
  const ofServer = merged.filter((entry) => requestedAt(entry) < 0).sort((a, b) => knownAt(a) - knownAt(b));
  const ordered: Json[] = [];
  for (const entry of ofPatch) {
    const at = knownAt(entry);
    while (ofServer[0] !== undefined && at >= 0 && knownAt(ofServer[0]) < at) ordered.push(...ofServer.splice(0, 1));
    ordered.push(entry);
  }
  return [...ordered, ...ofServer];
}

/** Throws a `PatchError` if the entries of a patch are in a different order than its `$setElementOrder`. */
export function checkOrder(patch: JsonList, requested: JsonList, mergeKey: string | undefined): void {
  if (patch.length === 0 || requested.length === 0) return;
  const entries = patch.filter((entry) => !isDirective(entry));
  let next = 0;
  for (const each of requested) {
    const entry = entries[next];
    if (entry !== undefined && isJsonEqual(keyOf(entry, mergeKey), keyOf(each, mergeKey))) next += 1;
  }
  if (next >= entries.length) return;
  const [patchOrder, requestedOrder] = [patch, requested].map(goText);
  throw new PatchError(
    `The order in patch list:\n${patchOrder}\n doesn't match $setElementOrder list:\n${requestedOrder}\n`,
  );
}

const isDirective = (entry: Json): entry is JsonObject => isObject(entry) && Object.hasOwn(entry, '$patch');
