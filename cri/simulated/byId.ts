import { CallError } from './callError.ts';

/** How long a whole id is. */
const ID_LENGTH = 64;

/**
 * The record of this id, or the only one whose id begins so, as containerd finds it. Fails with the sentence, which says
 * what was tried, when that is not one or the id is empty.
 */
export function findById<R>(records: ReadonlyMap<string, R>, id: string, sentence: string): R | undefined {
  const exact = records.get(id);
  if (exact !== undefined || id.length >= ID_LENGTH) return exact;
  if (id === '') throw new CallError('UNKNOWN', `${sentence}: Prefix can't be empty`);
  const found = [...records].filter(([each]) => each.startsWith(id));
  if (found.length > 1) throw new CallError('UNKNOWN', `${sentence}: Multiple IDs found with provided prefix: ${id}`);
  return found[0]?.[1];
}

/** As `findById`; fails when there is none. */
export function requireById<R>(records: ReadonlyMap<string, R>, id: string, sentence: string): R {
  const found = findById(records, id, sentence);
  if (found === undefined) throw new CallError('NOT_FOUND', `${sentence}: not found`);
  return found;
}

/** The whole id of a filter's, or what was given when that is not the beginning of exactly one. */
export function wholeId(records: ReadonlyMap<string, unknown>, id: string): string {
  if (id === '' || records.has(id)) return id;
  const found = [...records.keys()].filter((each) => each.startsWith(id));
  return found.length === 1 ? (found[0] ?? id) : id;
}
