/** The token that requests bear: of the kubeconfig itself, or of a file that has another one now and then. */
import { Secret } from '../../host/secretText.ts';
import type { CredentialFile } from './credentialFile.ts';
import type { LastGood } from './lastGood.ts';

/** As client-go: a token file is read again after so long. */
const TOKEN_MS = 60_000;

/** What a header can bear as one word. */
const TOKEN = /^[\x21-\x7e]+$/;

/** The token of a text, which is a secret: throws what is wrong with it, after its place. */
export function tokenIn(text: string, place: string): string {
  const token = text.trim();
  if (token === '') throw new Error(`${place}: expected a token, got nothing`);
  if (!TOKEN.test(token)) throw new Error(`${place}: expected a token, got text with characters that none has`);
  return token;
}

interface TokenFile {
  readonly file: Pick<CredentialFile, 'read' | 'place'>;
  readonly good: LastGood<Secret>;
  /** A clock that nobody sets, in milliseconds. */
  readonly monotonic: () => number;
}

/** What was good once is borne for as long as the file is not: it may be good for longer. */
export function tokenOfFile({ file, good, monotonic }: TokenFile) {
  let readAt: number | undefined;
  const read = async () => {
    const token = tokenIn(await file.read(), file.place);
    readAt = monotonic();
    return new Secret(token);
  };
  return {
    token: async (): Promise<string> => {
      const isFresh = readAt !== undefined && monotonic() - readAt < TOKEN_MS;
      const secret = isFresh && good.value !== undefined ? good.value : await good.read(read);
      return secret.read();
    },
    handleUnauthorized: () => {
      readAt = undefined;
    },
  };
}
