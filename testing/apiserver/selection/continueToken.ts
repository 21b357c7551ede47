/** Continue tokens of paginated lists (`apiserver/pkg/storage/continue.go`). */
import { badRequest } from '../failures/failures.ts';
import { isObject, type Json, numberAt, textAt } from '../json.ts';

export interface ContinueFrom {
  readonly revision: number;
  /** The key of the last object of the previous page. */
  readonly after: string;
}

const VERSION = 'meta.k8s.io/v1';

export const continueToken = ({ revision, after }: ContinueFrom): string =>
  Buffer.from(JSON.stringify({ v: VERSION, rv: revision, start: `${after}\0` })).toString('base64url');

/** Parses a token. Throws a `Failure` if this server did not issue it. */
export function readContinueToken(token: string): ContinueFrom {
  const text = Buffer.from(token, 'base64url').toString('latin1');
  const value = parseToken(text);
  const revision = isObject(value) ? numberAt(value, 'rv') : undefined;
  if (!isObject(value) || textAt(value, 'v') !== VERSION || revision === undefined)
    throw invalidToken('incorrect encoded token: version is not known');
  return { revision, after: textAt(value, 'start').replace(/\0$/, '') };
}

function parseToken(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    throw invalidToken(`invalid character ${quotedStart(text)} looking for beginning of value`);
  }
}

/** The first character, quoted as in Go. */
function quotedStart(text: string): string {
  const code = text.charCodeAt(0);
  const isPlain = code >= 0x20 && code < 0x7f;
  return isPlain ? `'${text.charAt(0)}'` : `'\\u${(code || 0).toString(16).padStart(4, '0')}'`;
}

const invalidToken = (why: string) => badRequest(`invalid continue token: continue key is not valid: ${why}`);
