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
  /** DNS names or IP addresses. The first one is the node's. */
  readonly names: readonly string[];
  readonly files: FileSystem;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Returns the self-signed certificate, like that of a kubelet without any other. Creates it if it is missing or
 * unusable.
 */
export async function selfSignedPair({ directory, names, files, now }: SelfSignedOptions): Promise<CertificatePair> {
  const pair = { certFile: join(directory, 'kubelet.crt'), keyFile: join(directory, 'kubelet.key') };
  if (await isUsable(files, pair)) return pair;
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

async function isUsable(files: FileSystem, pair: CertificatePair): Promise<boolean> {
  try {
    return (await readPair(files, pair)) !== undefined;
  } catch {
    // The files are truncated or do not match, so create them again.
    return false;
  }
}

/** Reads a certificate and its key. Returns undefined if a file is missing. Rejects if they are invalid. */
export async function readPair(
  files: FileSystem,
  { certFile, keyFile }: CertificatePair,
): Promise<{ readonly cert: string; readonly key: string } | undefined> {
  const [cert, key] = [await readTextOrUndefined(files, certFile), await readTextOrUndefined(files, keyFile)];
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

/** Adds the file name to an error of OpenSSL, which never contains the content of the file. */
export function withFileName<T>(file: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw new Error(`${file}: ${messageOf(cause)}`, { cause });
  }
}
