/** Computes the strategic merge patch that turns one object into another and contains only the differences. */

import { isJsonEqual } from './isJsonEqual.ts';
import { isPlainObject } from './isObject.ts';
import { lookUp } from './lookUp.ts';

/** A JSON object. */
export type JsonFields = Readonly<Record<string, unknown>>;

/** Merge keys by list name. A list with a merge key is merged entry by entry, and any other list is replaced. */
export type MergeKeys = ReadonlyMap<string, string>;

/** Returns the patch from `previous` to `current`, or undefined if they are equal. */
export function strategicPatch(previous: JsonFields, current: JsonFields, keys: MergeKeys): JsonFields | undefined {
  const names = [...new Set([...Object.keys(previous), ...Object.keys(current)])];
  const changes = names.flatMap((name) => fieldChanges(name, lookUp(previous, name), lookUp(current, name), keys));
  return changes.length === 0 ? undefined : Object.fromEntries(changes);
}

/** Returns the fields of an object except those in `names`. */
export const omitFields = (fields: JsonFields = {}, names: ReadonlySet<string>): JsonFields =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !names.has(name)));

type FieldChange = readonly [name: string, value: unknown];

function fieldChanges(name: string, previous: unknown, current: unknown, keys: MergeKeys): FieldChange[] {
  if (isJsonEqual(previous, current)) return [];
  if (current === undefined) return [[name, null]];
  const key = keys.get(name);
  if (key !== undefined && Array.isArray(current))
    return listChanges(name, key, listEntries(previous), listEntries(current));
  if (!isPlainObject(previous) || !isPlainObject(current)) return [[name, current]];
  const nestedPatch = strategicPatch(previous, current, keys);
  return nestedPatch === undefined ? [] : [[name, nestedPatch]];
}

const listEntries = (value: unknown): JsonFields[] => (Array.isArray(value) ? value.filter(isPlainObject) : []);

/**
 * Returns the patch of a merged list, which consists of the changed and deleted entries and the order of all entries.
 */
function listChanges(
  name: string,
  key: string,
  previousEntries: readonly JsonFields[],
  currentEntries: readonly JsonFields[],
): FieldChange[] {
  const findByKey = (entries: readonly JsonFields[], entry: JsonFields) =>
    entries.find((each) => lookUp(each, key) === lookUp(entry, key));
  const changedEntries = currentEntries.flatMap((entry) => {
    const previousEntry = findByKey(previousEntries, entry);
    if (previousEntry === undefined) return [entry];
    const entryChanges = shallowFieldChanges(previousEntry, entry);
    return entryChanges.length === 0 ? [] : [{ ...Object.fromEntries(entryChanges), [key]: lookUp(entry, key) }];
  });
  const deletions = previousEntries
    .filter((entry) => findByKey(currentEntries, entry) === undefined)
    .map((entry) => ({ $patch: 'delete', [key]: lookUp(entry, key) }));
  const patchEntries = [...changedEntries, ...deletions];
  if (patchEntries.length === 0) return [];
  // The order of entries is needed only if the list had entries before.
  const orderChange: FieldChange = [
    `$setElementOrder/${name}`,
    currentEntries.map((entry) => ({ [key]: lookUp(entry, key) })),
  ];
  return [...(previousEntries.length > 0 ? [orderChange] : []), [name, patchEntries]];
}

/** Returns the changed fields. Deleted fields are null. */
function shallowFieldChanges(previousFields: JsonFields, currentFields: JsonFields): FieldChange[] {
  const names = [...new Set([...Object.keys(previousFields), ...Object.keys(currentFields)])];
  return names.flatMap((name) => {
    const [previous, current] = [lookUp(previousFields, name), lookUp(currentFields, name)];
    return isJsonEqual(previous, current) ? [] : [[name, current ?? null] as const];
  });
}
