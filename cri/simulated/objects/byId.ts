import { CallError } from '../faults/callError.ts';

/** Length in characters of a full ID. */
const ID_LENGTH = 64;

/**
 * Finds a record by its ID or by a unique prefix of it, as containerd does. Throws if the prefix is empty or ambiguous.
 * The error message starts with `errorPrefix`.
 */
export function findById<R>(records: ReadonlyMap<string, R>, id: string, errorPrefix: string): R | undefined {
  const exactMatch = records.get(id);
  if (exactMatch !== undefined || id.length >= ID_LENGTH) return exactMatch;
  if (id === '') throw new CallError('UNKNOWN', `${errorPrefix}: Prefix can't be empty`);
  const matches = [...records].filter(([recordId]) => recordId.startsWith(id));
  if (matches.length > 1)
    throw new CallError('UNKNOWN', `${errorPrefix}: Multiple IDs found with provided prefix: ${id}`);
  return matches[0]?.[1];
}

/** Finds a record like `findById`, but throws if there is no match. */
export function requireById<R>(records: ReadonlyMap<string, R>, id: string, errorPrefix: string): R {
  const record = findById(records, id, errorPrefix);
  if (record === undefined) throw new CallError('NOT_FOUND', `${errorPrefix}: not found`);
  return record;
}

/** Returns the full ID for a unique prefix. If the prefix is unknown or ambiguous, returns `id` unchanged. */
export function expandId(records: ReadonlyMap<string, unknown>, id: string): string {
  if (id === '' || records.has(id)) return id;
  const matches = [...records.keys()].filter((recordId) => recordId.startsWith(id));
  return matches.length === 1 ? (matches[0] ?? id) : id;
}
