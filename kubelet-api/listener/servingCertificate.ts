/** Where a node's server has its certificate: of files, of the certificate that the node keeps, or made for it alone. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { dirname, join } from 'node:path';
import { writePrivate } from '../../actors/cluster/certificates/privateFiles.ts';
import { readTextFile } from '../../actors/sources/yaml/textFile.ts';
import { messageOf, NodeFailure } from '../../base/failure.ts';
import type { FileSystem } from '../../host/files/fileSystem.ts';
import { syncDirectory } from '../../host/files/syncDirectory.ts';

/** Two files in PEM; one may be both. */
export interface CertificatePair {
  readonly certFile: string;
  readonly keyFile: string;
}

/** Where a kubelet keeps the certificate that the API server has given it. */
export function issuedPair(directory: string): CertificatePair {
  const current = join(directory, 'kubelet-server-current.pem');
  return { certFile: current, keyFile: current };
}

interface SelfSignedParts {
  readonly directory: string;
  /** DNS names or IP addresses; the first is the node's. */
  readonly names: readonly string[];
  readonly files: FileSystem;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** That of a kubelet that has no other: made where there is none yet. */
export async function selfSignedPair({ directory, names, files, now }: SelfSignedParts): Promise<CertificatePair> {
  const pair = { certFile: join(directory, 'kubelet.crt'), keyFile: join(directory, 'kubelet.key') };
  if (await isThere(files, pair)) return pair;
  const { selfSigned } = await import('./selfSigned.ts');
  const { certificate, key } = await selfSigned(names, now);
  try {
    await writePrivate(files, pair.keyFile, key);
    await writePrivate(files, pair.certFile, certificate);
    await files.chmod(pair.certFile, 0o644);
    await syncDirectory(files, dirname(pair.certFile));
  } catch (cause) {
    throw new NodeFailure('CertificateUnusable', `the node's serving certificate: ${messageOf(cause)}`, { cause });
  }
  return pair;
}

async function isThere(files: FileSystem, pair: CertificatePair): Promise<boolean> {
  try {
    return (await readPair(files, pair)) !== undefined;
  } catch {
    // Cut off, or of another key: another takes its place.
    return false;
  }
}

/** A certificate and its key in PEM; undefined where either is missing. Rejects with what is wrong with them. */
export async function readPair(
  files: FileSystem,
  { certFile, keyFile }: CertificatePair,
): Promise<{ readonly cert: string; readonly key: string } | undefined> {
  const [cert, key] = [await textOf(files, certFile), await textOf(files, keyFile)];
  if (cert === undefined || key === undefined) return undefined;
  const fits = told(certFile, () => new X509Certificate(cert)).checkPrivateKey(
    told(keyFile, () => createPrivateKey(key)),
  );
  if (!fits) throw new Error(`${certFile}: not a certificate of the key in ${keyFile}`);
  return { cert, key };
}

/** A file's text; undefined where there is none. */
export async function textOf(files: FileSystem, file: string): Promise<string | undefined> {
  const found = await readTextFile(files, file).catch((cause: unknown) => {
    throw new Error(`${file}: ${messageOf(cause)}`, { cause });
  });
  if (found === undefined || 'text' in found) return found?.text;
  throw new Error(`${file}: ${found.noFile}`);
}

/** What OpenSSL says of a text is nothing without its place; it never has the text. */
export function told<T>(file: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw new Error(`${file}: ${messageOf(cause)}`, { cause });
  }
}
