/** Tokens that a node knows by itself, from a file (`token/tokenfile/tokenfile.go` of apiserver). */
import { createHmac, randomBytes } from 'node:crypto';
import type { Clock } from '../../kube/clock.ts';
import type { Caller } from '../exchange.ts';
import type { TokenOwner } from './authentication.ts';

/** Whose a token is; it keeps none of them. */
type KnownTokens = (token: string) => Caller | undefined;

/**
 * Of lines `token,user,uid` or `token,user,uid,"group1,group2"`; empty ones, and those that begin with `#`, say nothing.
 * Throws with the number of a line that is none, but no word of it. `file` is what the text is called.
 */
export function tokensIn(text: string, file: string): KnownTokens {
  const key = randomBytes(32);
  const digest = (token: string) => createHmac('sha256', key).update(token).digest('base64');
  const known = new Map<string, Caller>();
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const refused = (why: string) => new Error(`${file}: line ${index + 1} ${why}`);
    const [token = '', name = '', uid = '', groups = ''] = fieldsIn(line) ?? [];
    if (token === '' || name === '') throw refused('must be token,user,uid or token,user,uid,"group1,group2"');
    const of = digest(token);
    if (known.has(of)) throw refused('has a token that another line has already');
    const named = groups.split(',').map((each) => each.trim());
    const caller = { name, groups: named.filter((each) => each !== ''), extra: new Map<string, readonly string[]>() };
    known.set(of, uid === '' ? caller : { ...caller, uid });
  }
  return (token) => known.get(digest(token));
}

/** So long a file is taken as it was read. */
const FRESH_MS = 60_000;
/** So soon after a failure it is not read again, however many ask. */
const FAILED_MS = 1000;

export interface TokenFile {
  /** Its whole text, which is to be bounded in size and time by itself. */
  readonly read: () => Promise<string>;
  /** What it is called in errors. */
  readonly place: string;
  readonly clock: Pick<Clock, 'monotonic'>;
}

/** Of a file that may change. While it cannot be read, or makes no sense, nobody is known by it: the answer rejects. */
export function tokensOfFile({ read, place, clock }: TokenFile): TokenOwner {
  let until = Number.NEGATIVE_INFINITY;
  let known: Promise<KnownTokens> | undefined;
  const readAnew = async (): Promise<KnownTokens> => {
    try {
      const tokens = tokensIn(await read(), place);
      until = clock.monotonic() + FRESH_MS;
      return tokens;
    } catch (error) {
      until = clock.monotonic() + FAILED_MS;
      throw error;
    }
  };
  return async (token) => {
    if (known === undefined || clock.monotonic() >= until) {
      // Whoever asks meanwhile waits for the same.
      until = Number.POSITIVE_INFINITY;
      known = readAnew();
    }
    return (await known)(token);
  };
}

const FIELD = /\s*(?:"(?<quoted>(?:[^"]|"")*)"\s*|(?<plain>[^",]*))(?:,|$)/y;

/** Of comma-separated values; undefined where they are none. */
function fieldsIn(line: string): string[] | undefined {
  const fields: string[] = [];
  FIELD.lastIndex = 0;
  while (FIELD.lastIndex < line.length) {
    const found = FIELD.exec(line);
    if (found === null) return undefined;
    const { quoted, plain = '' } = found.groups ?? {};
    fields.push(quoted === undefined ? plain.trim() : quoted.replaceAll('""', '"'));
  }
  return fields;
}
