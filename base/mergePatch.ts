/** Computes the strategic merge patch that turns one object into another and contains only the differences. */
import { lookUp } from './lookUp.ts';
import { sameValue } from './sameValue.ts';

/** A JSON object. */
export type JsonFields = Readonly<Record<string, unknown>>;

/** Merge keys by list name. The entries of a list that has a merge key are merged by it. Any other list is replaced. */
export type MergeKeys = ReadonlyMap<string, string>;

/** Returns undefined if the objects are equal. */
export function strategicPatch(before: JsonFields, after: JsonFields, keys: MergeKeys): JsonFields | undefined {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const changes = names.flatMap((name) => fieldChanges(name, lookUp(before, name), lookUp(after, name), keys));
  return changes.length === 0 ? undefined : Object.fromEntries(changes);
}

/** Returns the fields of an object except those in `names`. */
export const omitFields = (fields: JsonFields = {}, names: ReadonlySet<string>): JsonFields =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !names.has(name)));

type Change = readonly [name: string, value: unknown];

function fieldChanges(name: string, before: unknown, after: unknown, keys: MergeKeys): Change[] {
  if (sameValue(before, after)) return [];
  if (after === undefined) return [[name, null]];
  const key = keys.get(name);
  if (key !== undefined && Array.isArray(after))
    return mergedChanges(name, key, listEntries(before), listEntries(after));
  if (!isJsonFields(before) || !isJsonFields(after)) return [[name, after]];
  const inner = strategicPatch(before, after, keys);
  return inner === undefined ? [] : [[name, inner]];
}

const listEntries = (value: unknown): JsonFields[] => (Array.isArray(value) ? value.filter(isJsonFields) : []);

/** Returns the patch of a merged list: the changed and deleted entries, and the order of all entries. */
function mergedChanges(
  name: string,
  key: string,
  before: readonly JsonFields[],
  after: readonly JsonFields[],
): Change[] {
  const findByKey = (entries: readonly JsonFields[], entry: JsonFields) =>
    entries.find((each) => lookUp(each, key) === lookUp(entry, key));
  const changed = after.flatMap((entry) => {
    const previous = findByKey(before, entry);
    if (previous === undefined) return [entry];
    const fields = changedFields(previous, entry);
    return fields.length === 0 ? [] : [{ ...Object.fromEntries(fields), [key]: lookUp(entry, key) }];
  });
  const deletions = before
    .filter((entry) => findByKey(after, entry) === undefined)
    .map((entry) => ({ $patch: 'delete', [key]: lookUp(entry, key) }));
  const patchEntries = [...changed, ...deletions];
  if (patchEntries.length === 0) return [];
  // The order of entries is needed only if the list had entries before.
  const order: Change = [`$setElementOrder/${name}`, after.map((entry) => ({ [key]: lookUp(entry, key) }))];
  return [...(before.length > 0 ? [order] : []), [name, patchEntries]];
}

/** Returns the changed fields. Deleted fields are null. */
function changedFields(before: JsonFields, after: JsonFields): Change[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names.flatMap((name) => {
    const [previous, current] = [lookUp(before, name), lookUp(after, name)];
    return sameValue(previous, current) ? [] : [[name, current ?? null] as const];
  });
}

const isJsonFields = (value: unknown): value is JsonFields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
