import { Secret } from '../../host/secret.ts';
import type { CredentialFile } from './credentialFile.ts';
import type { LastGood } from './lastGood.ts';

/** Interval in milliseconds at which client-go rereads a token file. */
const REREAD_MS = 60_000;

/** Characters that can be sent in the Authorization header. */
const TOKEN_PATTERN = /^[\x21-\x7e]+$/;

/** Returns the trimmed token. Throws an error that starts with `errorPrefix` and does not contain the token. */
export function parseToken(text: string, errorPrefix: string): string {
  const token = text.trim();
  if (token === '') throw new Error(`${errorPrefix}: expected a token, got nothing`);
  if (!TOKEN_PATTERN.test(token)) throw new Error(`${errorPrefix}: expected a token, got invalid characters`);
  return token;
}

interface TokenFile {
  readonly file: Pick<CredentialFile, 'read' | 'errorPrefix'>;
  readonly lastGoodToken: LastGood<Secret>;
  /** Returns the monotonic time in milliseconds. */
  readonly monotonic: () => number;
}

/**
 * Returns a token source that reads a file. While the file is invalid, the source returns the last valid token, which
 * the server may still accept.
 */
export function tokenFileSource({ file, lastGoodToken, monotonic }: TokenFile) {
  let lastReadAt: number | undefined;
  const readToken = async () => {
    const token = parseToken(await file.read(), file.errorPrefix);
    lastReadAt = monotonic();
    return new Secret(token);
  };
  return {
    token: async (): Promise<string> => {
      const isCacheFresh = lastReadAt !== undefined && monotonic() - lastReadAt < REREAD_MS;
      const secret =
        isCacheFresh && lastGoodToken.value !== undefined ? lastGoodToken.value : await lastGoodToken.read(readToken);
      return secret.read();
    },
    handleUnauthorized: () => {
      lastReadAt = undefined;
    },
  };
}
