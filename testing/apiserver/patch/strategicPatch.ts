/**
 * Strategic merge patches, which merge lists by the keys in the schema and support directives
 * (`pkg/util/strategicpatch/patch.go` of k8s.io/apimachinery).
 */

import { isJsonEqual } from '../../../base/values/isJsonEqual.ts';
import { lookUp } from '../../../base/values/lookUp.ts';
import { goText } from '../failures/goText.ts';
import { isList, isObject, type Json, type JsonList, type JsonObject, objectOf } from '../json.ts';
import type { Field, ObjectType, Type } from '../schema/types.ts';
import { checkOrder, indexOf, keyOf, sortMergedList } from './mergedLists.ts';
import { PatchError } from './patchError.ts';

const DIRECTIVE = '$patch';
const RETAIN_KEYS = '$retainKeys';
const SET_ORDER = '$setElementOrder/';
const DELETE_FROM = '$deleteFromPrimitiveList/';

/** Returns the object with a patch applied. */
export function strategicPatch(original: JsonObject, patch: JsonObject, type: ObjectType | undefined): JsonObject {
  const directive = lookUp(patch, DIRECTIVE);
  if (directive !== undefined) return applyDirective(directive, patch);
  const fields = new Map(Object.entries(original));
  const changes = new Map(Object.entries(patch));
  retainKeys(fields, changes);
  for (const [name, requested] of [...changes]) {
    if (name.startsWith(SET_ORDER)) setOrder(name.slice(SET_ORDER.length), requested, { fields, changes, type });
  }
  for (const [name, change] of changes) {
    if (name.startsWith(SET_ORDER)) continue;
    if (name.startsWith(DELETE_FROM)) deleteFrom(fields, name.slice(DELETE_FROM.length), change);
    else if (change === null) fields.delete(name);
    else set(fields, name, mergeField(fields.get(name), change, type?.field(name)));
  }
  return objectOf(fields);
}

const set = (fields: Map<string, Json>, name: string, value: Json | undefined): unknown =>
  value === undefined ? fields.delete(name) : fields.set(name, value);

function applyDirective(directive: Json, patch: JsonObject): JsonObject {
  if (directive === 'delete') return {};
  if (directive === 'replace') return objectOf(Object.entries(patch).filter(([name]) => name !== DIRECTIVE));
  throw new PatchError(`unknown patch type: ${goText(directive)} in map: ${goText(patch)}`);
}

/** The new value of a field. Undefined removes it. */
function mergeField(before: Json | undefined, change: Json, field: Field | undefined): Json | undefined {
  if (isObject(before) && isObject(change)) return strategicPatch(before, change, objectTypeOf(field?.type));
  if (isList(before) && isList(change) && field?.merges) return mergeLists(before, change, field);
  return isList(before) && isList(change) ? change : withoutDirectives(change);
}

const objectTypeOf = (type: Type | undefined): ObjectType | undefined =>
  type?.kind === 'object' ? type.of : undefined;
const entryTypeOf = (type: Type): ObjectType | undefined =>
  type.kind === 'list' ? objectTypeOf(type.items) : undefined;

/** Returns a new value without directives and deleted fields. */
function withoutDirectives(value: Json): Json | undefined {
  if (isList(value)) return value.map(withoutDirectives).filter((each) => each !== undefined);
  if (!isObject(value)) return value;
  if (Object.hasOwn(value, DIRECTIVE)) return undefined;
  return objectOf(
    Object.entries(value).flatMap(([name, each]) => {
      const kept = each === null ? undefined : withoutDirectives(each);
      return kept === undefined ? [] : [[name, kept] as const];
    }),
  );
}

function mergeLists(original: JsonList, patch: JsonList, field: Field): JsonList {
  if (original.length === 0 && patch.length === 0) return original;
  if (!isObject(original[0] ?? patch[0])) {
    const both = [...original, ...patch];
    const once = both.filter((each, index) => both.indexOf(each) === index);
    return sortMergedList(once, { requested: patch, known: original, mergeKey: undefined });
  }
  const { mergeKey } = field;
  if (mergeKey === undefined) throw new PatchError('cannot merge lists without merge key');
  const { known, requested } = applyListDirectives(original, patch, mergeKey);
  return sortMergedList(mergeEntries(known, requested, mergeKey, field), { requested, known, mergeKey });
}

/** Applies the directives in a list patch, which delete single entries or all. */
function applyListDirectives(original: JsonList, patch: JsonList, mergeKey: string) {
  const requested: Json[] = [];
  let known = original;
  let replaces = false;
  for (const entry of patch) {
    const directive = isObject(entry) ? lookUp(entry, DIRECTIVE) : undefined;
    if (directive === undefined) requested.push(entry);
    else if (directive === 'delete') known = known.filter((each) => !isSameEntry(each, entry, mergeKey));
    else if (directive === 'replace') replaces = true;
    else if (directive === 'merge') throw new PatchError('merging lists cannot yet be specified in the patch');
    else throw new PatchError(`unknown patch type: ${goText(directive)} in map: ${goText(entry)}`);
  }
  return replaces ? { known: requested, requested: [] } : { known, requested };
}

const isSameEntry = (one: Json, other: Json, mergeKey: string): boolean =>
  isJsonEqual(keyOf(one, mergeKey), keyOf(other, mergeKey));

function mergeEntries(known: JsonList, requested: JsonList, mergeKey: string, { type }: Field): JsonList {
  const entries = [...known];
  for (const entry of requested) {
    const at = indexOf(entries, keyOf(entry, mergeKey), mergeKey);
    const before = entries[at];
    if (isObject(before) && isObject(entry)) entries[at] = strategicPatch(before, entry, entryTypeOf(type));
    else entries.push(withoutDirectives(entry) ?? {});
  }
  return entries;
}

interface Ordered {
  readonly fields: Map<string, Json>;
  readonly changes: Map<string, Json>;
  readonly type: ObjectType | undefined;
}

/** Merges the list of a `$setElementOrder` directive in that order. */
function setOrder(name: string, requested: Json, { fields, changes, type }: Ordered): void {
  const [before, change] = [fields.get(name), changes.get(name)];
  const field = type?.field(name);
  if (!isList(requested)) throw new PatchError('invalid patch format of setElementOrder list', 400);
  const mergeKey = field?.mergeKey;
  checkOrder(isList(change) ? change : [], requested, mergeKey);
  const both = change === undefined ? before : mergeField(before, change, field);
  changes.delete(name);
  if (isList(both))
    fields.set(name, sortMergedList(both, { requested, known: isList(before) ? before : [], mergeKey }));
}

function deleteFrom(fields: Map<string, Json>, name: string, gone: Json): void {
  const before = fields.get(name);
  if (!isList(gone)) throw new PatchError('invalid patch format of primitive list', 400);
  if (isList(before))
    fields.set(
      name,
      before.filter((each) => !gone.includes(each)),
    );
}

/** Removes the fields that a `$retainKeys` directive does not name. */
function retainKeys(fields: Map<string, Json>, changes: Map<string, Json>): void {
  const kept = changes.get(RETAIN_KEYS);
  if (kept === undefined) return;
  changes.delete(RETAIN_KEYS);
  const isKept = (name: string) => isList(kept) && kept.includes(name);
  const others = [...changes].filter(([name, value]) => value !== null && !name.startsWith('$') && !isKept(name));
  if (!isList(kept) || others.length > 0) throw new PatchError('invalid patch format of retainKeys', 400);
  for (const name of [...fields.keys()]) if (!isKept(name)) fields.delete(name);
}
