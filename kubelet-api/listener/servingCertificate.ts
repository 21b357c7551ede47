/**
 * Locates the serving certificate of the node's server, i.e. configured files, a certificate from the API server, or a
 * self-signed one.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { dirname, join } from 'node:path';
import { writePrivate } from '../../actors/cluster/certificates/privateFiles.ts';
import { readTextFile } from '../../actors/sources/yaml/textFile.ts';
import { messageOf, NodeFailure } from '../../base/failure.ts';
import type { FileSystem } from '../../host/files/fileSystem.ts';
import { quarantine } from '../../host/files/setAside.ts';
import { syncDirectory } from '../../host/files/syncDirectory.ts';

/** Paths of a certificate and its key in PEM. Both can be the same file. */
export interface CertificatePair {
  readonly certFile: string;
  readonly keyFile: string;
}

/** Returns the path at which a kubelet stores the certificate from the API server. */
export function issuedPair(directory: string): CertificatePair {
  const current = join(directory, 'kubelet-server-current.pem');
  return { certFile: current, keyFile: current };
}

interface SelfSignedOptions {
  readonly directory: string;
  /** DNS names or IP addresses. The first one is the node's name. */
  readonly names: readonly string[];
  readonly files: FileSystem;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Called with the reason if damaged files are renamed. */
  readonly onProblem: (problem: string) => void;
}

/**
 * Returns the self-signed certificate, which a kubelet also uses if it has no other. Creates it if it is missing.
 * Damaged files are renamed and reported.
 */
export async function selfSignedPair(options: SelfSignedOptions): Promise<CertificatePair> {
  const { directory, names, files, now } = options;
  const pair = { certFile: join(directory, 'kubelet.crt'), keyFile: join(directory, 'kubelet.key') };
  try {
    if (await hasUsablePair(pair, options)) return pair;
    const { selfSigned } = await import('./selfSigned.ts');
    const { certificate, key } = await selfSigned(names, now);
    await writePrivate(files, pair.keyFile, key);
    await writePrivate(files, pair.certFile, certificate);
    await files.chmod(pair.certFile, 0o644);
    await syncDirectory(files, dirname(pair.certFile));
  } catch (cause) {
    throw new NodeFailure('CertificateUnusable', `the node's serving certificate: ${messageOf(cause)}`, { cause });
  }
  return pair;
}

/** Whether both files exist and are valid. Renames them if they are damaged. Rejects if they cannot be read. */
async function hasUsablePair(
  pair: CertificatePair,
  { files, onProblem }: Pick<SelfSignedOptions, 'files' | 'onProblem'>,
): Promise<boolean> {
  const texts = await readTexts(files, pair);
  try {
    return parsePair(pair, texts) !== undefined;
  } catch (error) {
    const paths = [pair.certFile, pair.keyFile];
    const renamed: string[] = [];
    for (const path of paths) renamed.push(path + (await quarantine(files, path)));
    onProblem(
      `${messageOf(error)}; a new self-signed certificate replaces it, and the files are now ${renamed.join(' and ')}`,
    );
    return false;
  }
}

/** Reads a certificate and its key. Returns undefined if a file is missing. Rejects if they are invalid. */
export async function readPair(
  files: FileSystem,
  pair: CertificatePair,
): Promise<{ readonly cert: string; readonly key: string } | undefined> {
  return parsePair(pair, await readTexts(files, pair));
}

interface PairTexts {
  readonly cert: string | undefined;
  readonly key: string | undefined;
}

const readTexts = async (files: FileSystem, { certFile, keyFile }: CertificatePair): Promise<PairTexts> => ({
  cert: await readTextOrUndefined(files, certFile),
  key: await readTextOrUndefined(files, keyFile),
});

/**
 * Returns the texts if they contain a certificate and its key, or undefined if a text is missing. Throws if they are
 * invalid.
 */
function parsePair({ certFile, keyFile }: CertificatePair, { cert, key }: PairTexts) {
  if (cert === undefined || key === undefined) return undefined;
  const fits = withFileName(certFile, () => new X509Certificate(cert)).checkPrivateKey(
    withFileName(keyFile, () => createPrivateKey(key)),
  );
  if (!fits) throw new Error(`${certFile}: not a certificate of the key in ${keyFile}`);
  return { cert, key };
}

/** Returns undefined if the file does not exist. */
export async function readTextOrUndefined(files: FileSystem, file: string): Promise<string | undefined> {
  const result = await readTextFile(files, file).catch((cause: unknown) => {
    throw new Error(`${file}: ${messageOf(cause)}`, { cause });
  });
  if (result === undefined || 'text' in result) return result?.text;
  throw new Error(`${file}: ${result.noFile}`);
}

/** Adds the file name to an OpenSSL error. Such an error never contains the contents of the file. */
export function withFileName<T>(file: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw new Error(`${file}: ${messageOf(cause)}`, { cause });
  }
}
