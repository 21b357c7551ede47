/**
 * Stores certificates in the kubelet's file layout (`util/certificate/certificate_store.go` of client-go), so that a
 * kubelet and this agent can read each other's files. Each file contains certificates and their key, and a link points
 * to the current file.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { join } from 'node:path';
import { messageOf } from '../../../base/failure.ts';
import { canonicalIpOrText } from '../../../base/ipAddress.ts';
import type { FileSystem } from '../../../host/files/fileSystem.ts';
import { syncDirectory } from '../../../host/files/syncDirectory.ts';
import { parsePemBlocks } from '../../../kubeclient/pemBlocks.ts';
import type { AlternativeNames } from '../../../kubernetes/node/alternativeNames.ts';
import type {
  CertificateName,
  CertificateSubject,
  PersistedCertificate,
} from '../../../machines/certificate/certificate.ts';
import { readTextFile, undefinedIfMissing } from '../../sources/yaml/textFile.ts';
import { createUnusableFailure, writePrivate } from './privateFiles.ts';

const FILE_PREFIXES: Readonly<Record<CertificateName, string>> = {
  client: 'kubelet-client',
  serving: 'kubelet-server',
};

export class CertificateFiles {
  readonly #files: FileSystem;
  readonly #directory: string;
  readonly #filePrefix: string;
  readonly #onProblem: (problem: string) => void;
  #lastProblem = '';

  /** `onProblem` is called once for each file that exists but is not usable. */
  constructor(files: FileSystem, directory: string, name: CertificateName, onProblem: (problem: string) => void) {
    this.#files = files;
    this.#directory = directory;
    this.#filePrefix = FILE_PREFIXES[name];
    this.#onProblem = onProblem;
  }

  /** Path of the link to the current certificate file. */
  get current(): string {
    return this.#path('current');
  }

  /** Returns the current certificate, or undefined if there is no usable one. Rejects if the files cannot be read. */
  async read(): Promise<PersistedCertificate | undefined> {
    try {
      await this.#recoverLink();
      return await this.#readCurrent();
    } catch (cause) {
      throw createUnusableFailure(this.#directory, cause);
    }
  }

  /** Writes certificates and their key and makes them current, atomically. */
  async write(certificates: string, key: string, now: number): Promise<PersistedCertificate> {
    const certificate = parsePair(certificates, key);
    try {
      const path = this.#path(formatTimestamp(now));
      await writePrivate(this.#files, path, certificates + key);
      await this.#replaceLink(path);
      await this.#removeExpired(now);
      return certificate;
    } catch (cause) {
      throw createUnusableFailure(this.#directory, cause);
    }
  }

  /** Atomically makes the link to the current certificate file point to `path`. */
  async #replaceLink(path: string): Promise<void> {
    const [updated, current] = [this.#path('updated'), this.current];
    for (const link of [updated, current]) {
      const stats = await undefinedIfMissing(() => this.#files.lstat(link));
      if (stats !== undefined && !stats.isSymbolicLink()) throw new Error(`${link}: expected a link`);
    }
    await this.#files.rm(updated, { force: true });
    await this.#files.symlink(path, updated);
    await this.#files.rename(updated, current);
    await syncDirectory(this.#files, this.#directory);
  }

  /** Completes a link replacement that was interrupted between removing the old link and renaming the new one. */
  async #recoverLink(): Promise<void> {
    const [updated, current] = await Promise.all(
      [this.#path('updated'), this.current].map((path) => undefinedIfMissing(() => this.#files.lstat(path))),
    );
    if (current === undefined && updated?.isSymbolicLink())
      await this.#files.rename(this.#path('updated'), this.current);
  }

  /**
   * Reads the current file. If there is none, reads a pair of files without a date in their names, which node
   * provisioning tools create.
   */
  async #readCurrent(): Promise<PersistedCertificate | undefined> {
    const pem = await this.#readText(this.current);
    if (pem !== undefined) return this.#parse(this.current, pem, pem);
    const [certPath, key] = ['.crt', '.key'].map((extension) =>
      join(this.#directory, this.#filePrefix + extension),
    ) as [string, string];
    const [certPem, keyPem] = await Promise.all([this.#readText(certPath), this.#readText(key)]);
    return certPem === undefined || keyPem === undefined ? undefined : this.#parse(certPath, certPem, keyPem);
  }

  /**
   * Parses certificates and their key. Reports an unusable pair and returns undefined, so that a new certificate is
   * requested.
   */
  #parse(path: string, certificates: string, key: string): PersistedCertificate | undefined {
    try {
      return parsePair(certificates, key);
    } catch (error) {
      const problem = `${path}: ${messageOf(error)}; a new certificate is requested, and the file stays`;
      if (problem !== this.#lastProblem) this.#onProblem(problem);
      this.#lastProblem = problem;
      return undefined;
    }
  }

  async #readText(path: string): Promise<string | undefined> {
    const textFile = await readTextFile(this.#files, path);
    if (textFile === undefined || 'text' in textFile) return textFile?.text;
    throw new Error(`${path}: ${textFile.noFile}`);
  }

  /**
   * Removes expired certificates, which the kubelet never does, so that private keys do not accumulate. Retains
   * unreadable files.
   */
  async #removeExpired(now: number): Promise<void> {
    const names = await this.#files.readdir(this.#directory).catch(() => []);
    for (const name of names.filter((candidate) => this.#isTimestampedFile(candidate))) {
      const path = join(this.#directory, name);
      const content = await this.#readText(path).catch(() => undefined);
      if (content !== undefined && hasExpired(content, now))
        await this.#files.rm(path, { force: true }).catch(() => {});
    }
  }

  #isTimestampedFile(name: string): boolean {
    return name.startsWith(`${this.#filePrefix}-`) && TIMESTAMP_SUFFIX.test(name.slice(this.#filePrefix.length));
  }

  #path(qualifier: string): string {
    return join(this.#directory, `${this.#filePrefix}-${qualifier}.pem`);
  }
}

const TIMESTAMP_SUFFIX = /^-\d{4}(-\d{2}){5}\.pem$/;

/** Whether the certificate has expired. Returns false for unusable files. */
function hasExpired(text: string, now: number): boolean {
  try {
    return parsePair(text, text).notAfter < now;
  } catch {
    return false;
  }
}

/** Formats a time for a file name. Uses local time, as the kubelet does. */
function formatTimestamp(now: number): string {
  const date = new Date(now);
  const dateFields = [date.getMonth() + 1, date.getDate(), date.getHours(), date.getMinutes(), date.getSeconds()];
  return [date.getFullYear(), ...dateFields.map((part) => String(part).padStart(2, '0'))].join('-');
}

/**
 * Parses the first certificate of a PEM file, which must match the key. Any further certificates form the chain to its
 * CA.
 */
function parsePair(certificates: string, key: string): PersistedCertificate {
  const certificateBlock = parsePemBlocks(certificates).find(({ label }) => label === 'CERTIFICATE');
  const keyBlock = parsePemBlocks(key).find(({ label }) => label.endsWith('PRIVATE KEY'));
  if (certificateBlock === undefined) throw new Error('expected a certificate in PEM, found none');
  if (keyBlock === undefined) throw new Error('expected a private key in PEM, found none');
  const certificate = new X509Certificate(certificateBlock.pem);
  if (!certificate.checkPrivateKey(createPrivateKey(keyBlock.pem)))
    throw new Error('the certificate does not match its private key');
  const { validFromDate, validToDate, subjectAltName = '' } = certificate;
  return {
    subject: readSubject(certificate),
    notBefore: validFromDate.getTime(),
    notAfter: validToDate.getTime(),
    names: parseAlternativeNames(subjectAltName),
  };
}

function readSubject(certificate: X509Certificate): CertificateSubject {
  // OpenSSL returns an array for an attribute that occurs more than once, and no subject for a certificate without one.
  const { CN = [], O = [] }: { CN?: string | string[]; O?: string | string[] } =
    certificate.toLegacyObject().subject ?? {};
  return { commonName: [CN].flat().at(-1) ?? '', organizations: [O].flat() };
}

/** Parses subject alternative names in OpenSSL's format, such as `DNS:node1, IP Address:FD00:0:0:0:0:0:0:1`. */
function parseAlternativeNames(text: string): AlternativeNames {
  const readAttributes = (prefix: string) =>
    text.split(', ').flatMap((name) => (name.startsWith(prefix) ? [name.slice(prefix.length)] : []));
  return { dnsNames: readAttributes('DNS:'), ips: readAttributes('IP Address:').map(canonicalIpOrText) };
}
