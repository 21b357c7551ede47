/** Tokens that a node knows by itself, from a file (`token/tokenfile/tokenfile.go` of apiserver). */
import { createHmac, randomBytes } from 'node:crypto';
import type { Caller } from '../exchange.ts';

/** Whose a token is; it keeps none of them. */
export type KnownTokens = (token: string) => Caller | undefined;

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
