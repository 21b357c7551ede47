/**
 * Locates the serving certificate of the node's server, which is read from configured files, issued by the API server,
 * or self-signed.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { dirname, join } from 'node:path';
import { writePrivate } from '../../actors/cluster/certificates/privateFiles.ts';
import { readTextFile } from '../../actors/sources/yaml/textFile.ts';
import { messageOf, NodeFailure } from '../../base/failure.ts';
import type { FileSystem } from '../../host/files/fileSystem.ts';
import { quarantineFile } from '../../host/files/quarantineFile.ts';
import { syncDirectory } from '../../host/files/syncDirectory.ts';

/** Paths of a certificate and its key in PEM. Both can be the same file. */
export interface CertificatePair {
  readonly certFile: string;
  readonly keyFile: string;
}

/** Returns the path at which the kubelet stores the serving certificate that the API server issued. */
export function issuedPair(directory: string): CertificatePair {
  const currentFile = join(directory, 'kubelet-server-current.pem');
  return { certFile: currentFile, keyFile: currentFile };
}

interface SelfSignedOptions {
  readonly directory: string;
  /** DNS names or IP addresses. The first one is the node's name. */
  readonly names: readonly string[];
  readonly files: FileSystem;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Called with the reason when damaged files are renamed and replaced. */
  readonly onProblem: (problem: string) => void;
}

/**
 * Returns the self-signed certificate, which is used if the node has no other certificate, as in the kubelet. Creates
 * the certificate if it is missing. Damaged files are renamed and reported.
 */
export async function ensureSelfSignedPair(options: SelfSignedOptions): Promise<CertificatePair> {
  const { directory, names, files, now } = options;
  const certificatePair = { certFile: join(directory, 'kubelet.crt'), keyFile: join(directory, 'kubelet.key') };
  try {
    if (await hasUsablePair(certificatePair, options)) return certificatePair;
    const { createSelfSigned } = await import('./selfSigned.ts');
    const { certificate, key } = await createSelfSigned(names, now);
    await writePrivate(files, certificatePair.keyFile, key);
    await writePrivate(files, certificatePair.certFile, certificate);
    await files.chmod(certificatePair.certFile, 0o644);
    await syncDirectory(files, dirname(certificatePair.certFile));
  } catch (cause) {
    throw new NodeFailure('CertificateUnusable', `the node's serving certificate: ${messageOf(cause)}`, { cause });
  }
  return certificatePair;
}

/** Whether both files exist and are valid. Renames them if they are damaged. Rejects if they cannot be read. */
async function hasUsablePair(
  certificatePair: CertificatePair,
  { files, onProblem }: Pick<SelfSignedOptions, 'files' | 'onProblem'>,
): Promise<boolean> {
  const pemTexts = await readTexts(files, certificatePair);
  try {
    return parsePair(certificatePair, pemTexts) !== undefined;
  } catch (error) {
    const paths = [certificatePair.certFile, certificatePair.keyFile];
    const renamedFiles: string[] = [];
    for (const path of paths) renamedFiles.push(path + (await quarantineFile(files, path)));
    onProblem(
      `${messageOf(error)}; a new self-signed certificate replaces it, and the files are now ${renamedFiles.join(' and ')}`,
    );
    return false;
  }
}

/**
 * Reads a certificate and its key. Returns undefined if a file is missing. Rejects if the certificate or the key is
 * invalid.
 */
export async function readPair(
  files: FileSystem,
  certificatePair: CertificatePair,
): Promise<{ readonly cert: string; readonly key: string } | undefined> {
  return parsePair(certificatePair, await readTexts(files, certificatePair));
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
 * Returns the PEM contents if they are a certificate and its key. Returns undefined if one of them is missing, and
 * throws if they are invalid.
 */
function parsePair({ certFile, keyFile }: CertificatePair, { cert, key }: PairTexts) {
  if (cert === undefined || key === undefined) return undefined;
  const isMatchingPair = withFileName(certFile, () => new X509Certificate(cert)).checkPrivateKey(
    withFileName(keyFile, () => createPrivateKey(key)),
  );
  if (!isMatchingPair) throw new Error(`${certFile}: not a certificate of the key in ${keyFile}`);
  return { cert, key };
}

/** Reads a text file. Returns undefined if the file does not exist. */
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
