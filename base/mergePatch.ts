/** What makes one object of another, as a strategic merge patch: only what differs. */
import { lookUp } from './lookUp.ts';
import { sameValue } from './sameValue.ts';

/** An object as JSON has it. */
export type JsonFields = Readonly<Record<string, unknown>>;

/** The lists whose entries are merged, and by which field; any other list is whole. */
export type MergeKeys = ReadonlyMap<string, string>;

/** Undefined: they are the same. */
export function strategicPatch(before: JsonFields, after: JsonFields, keys: MergeKeys): JsonFields | undefined {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const changes = names.flatMap((name) => changesOf(name, lookUp(before, name), lookUp(after, name), keys));
  return changes.length === 0 ? undefined : Object.fromEntries(changes);
}

/** What an object has beside these fields. */
export const fieldsBut = (fields: JsonFields = {}, names: ReadonlySet<string>): JsonFields =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !names.has(name)));

type Change = readonly [name: string, value: unknown];

function changesOf(name: string, before: unknown, after: unknown, keys: MergeKeys): Change[] {
  if (sameValue(before, after)) return [];
  if (after === undefined) return [[name, null]];
  const key = keys.get(name);
  if (key !== undefined && Array.isArray(after)) return mergedChanges(name, key, entriesOf(before), entriesOf(after));
  if (!isFields(before) || !isFields(after)) return [[name, after]];
  const inner = strategicPatch(before, after, keys);
  return inner === undefined ? [] : [[name, inner]];
}

const entriesOf = (value: unknown): JsonFields[] => (Array.isArray(value) ? value.filter(isFields) : []);

/** The entries that differ, those that have gone, and the order of all. */
function mergedChanges(
  name: string,
  key: string,
  before: readonly JsonFields[],
  after: readonly JsonFields[],
): Change[] {
  const called = (entries: readonly JsonFields[], entry: JsonFields) =>
    entries.find((each) => lookUp(each, key) === lookUp(entry, key));
  const changed = after.flatMap((entry) => {
    const had = called(before, entry);
    if (had === undefined) return [entry];
    const fields = fieldsOf(had, entry);
    return fields.length === 0 ? [] : [{ ...Object.fromEntries(fields), [key]: lookUp(entry, key) }];
  });
  const gone = before
    .filter((entry) => called(after, entry) === undefined)
    .map((entry) => ({ $patch: 'delete', [key]: lookUp(entry, key) }));
  const all = [...changed, ...gone];
  if (all.length === 0) return [];
  // Without anything to compare it with, an order says nothing.
  const order: Change = [`$setElementOrder/${name}`, after.map((entry) => ({ [key]: lookUp(entry, key) }))];
  return [...(before.length > 0 ? [order] : []), [name, all]];
}

/** Fields that are gone are null. */
function fieldsOf(before: JsonFields, after: JsonFields): Change[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names.flatMap((name) => {
    const [had, has] = [lookUp(before, name), lookUp(after, name)];
    return sameValue(had, has) ? [] : [[name, has ?? null] as const];
  });
}

const isFields = (value: unknown): value is JsonFields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
