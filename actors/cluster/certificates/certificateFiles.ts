/**
 * The files of a certificate as a kubelet lays them out (`util/certificate/certificate_store.go` of client-go), so that
 * either finds what the other has left: certificates and key in one file, and a link to the one in use.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { join } from 'node:path';
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
import { orAbsent, readTextFile } from '../../sources/yaml/textFile.ts';
import { unusable, writePrivate } from './privateFiles.ts';

const PREFIXES: Readonly<Record<CertificateName, string>> = { client: 'kubelet-client', serving: 'kubelet-server' };

export class CertificateFiles {
  readonly #files: FileSystem;
  readonly #directory: string;
  readonly #prefix: string;

  constructor(files: FileSystem, directory: string, name: CertificateName) {
    this.#files = files;
    this.#directory = directory;
    this.#prefix = PREFIXES[name];
  }

  /** The link to what is in use. */
  get current(): string {
    return this.#path('current');
  }

  /** What is in use; undefined for nothing that could be. Rejects where that cannot be read. */
  async read(): Promise<PersistedCertificate | undefined> {
    try {
      await this.#recover();
      return await this.#readCurrent();
    } catch (cause) {
      throw unusable(this.#directory, cause);
    }
  }

  /** Puts certificates and their key in use: all of it, or nothing. */
  async write(certificates: string, key: string, now: number): Promise<PersistedCertificate> {
    const kept = keptIn(certificates, key);
    try {
      const path = this.#path(timestamp(now));
      await writePrivate(this.#files, path, certificates + key);
      await this.#use(path);
      await this.#removeExpired(now);
      return kept;
    } catch (cause) {
      throw unusable(this.#directory, cause);
    }
  }

  /** By a link that takes the place of the former one at once. */
  async #use(path: string): Promise<void> {
    const [updated, current] = [this.#path('updated'), this.current];
    for (const link of [updated, current]) {
      const found = await orAbsent(() => this.#files.lstat(link));
      if (found !== undefined && !found.isSymbolicLink()) throw new Error(`${link}: expected a link, which it is not`);
    }
    await this.#files.rm(updated, { force: true });
    await this.#files.symlink(path, updated);
    await this.#files.rename(updated, current);
    await syncDirectory(this.#files, this.#directory);
  }

  /** A kubelet that was stopped in between has made one link and not yet the other. */
  async #recover(): Promise<void> {
    const [updated, current] = await Promise.all(
      [this.#path('updated'), this.current].map((path) => orAbsent(() => this.#files.lstat(path))),
    );
    if (current === undefined && updated?.isSymbolicLink())
      await this.#files.rename(this.#path('updated'), this.current);
  }

  /** A pair of files without a date is what those who prepare nodes lay there. */
  async #readCurrent(): Promise<PersistedCertificate | undefined> {
    const whole = await this.#text(this.current);
    if (whole !== undefined) return keptOrNone(whole, whole);
    const [cert, key] = ['.crt', '.key'].map((extension) => join(this.#directory, this.#prefix + extension)) as [
      string,
      string,
    ];
    const [certText, keyText] = await Promise.all([this.#text(cert), this.#text(key)]);
    return certText === undefined || keyText === undefined ? undefined : keptOrNone(certText, keyText);
  }

  async #text(path: string): Promise<string | undefined> {
    const found = await readTextFile(this.#files, path);
    if (found === undefined || 'text' in found) return found?.text;
    throw new Error(`${path}: ${found.noFile}`);
  }

  /** A kubelet leaves all; what has expired is of no use to anybody, and keys pile up. What cannot be read stays. */
  async #removeExpired(now: number): Promise<void> {
    const names = await this.#files.readdir(this.#directory).catch(() => []);
    for (const name of names.filter((each) => this.#isDated(each))) {
      const path = join(this.#directory, name);
      const found = await this.#text(path).catch(() => undefined);
      if (found !== undefined && hasExpired(found, now)) await this.#files.rm(path, { force: true }).catch(() => {});
    }
  }

  #isDated(name: string): boolean {
    return name.startsWith(`${this.#prefix}-`) && DATED.test(name.slice(this.#prefix.length));
  }

  #path(qualifier: string): string {
    return join(this.#directory, `${this.#prefix}-${qualifier}.pem`);
  }
}

const DATED = /^-\d{4}(-\d{2}){5}\.pem$/;

const hasExpired = (text: string, now: number): boolean => (keptOrNone(text, text)?.notAfter ?? now) < now;

/** In local time, as a kubelet has it. */
function timestamp(now: number): string {
  const date = new Date(now);
  const parts = [date.getMonth() + 1, date.getDate(), date.getHours(), date.getMinutes(), date.getSeconds()];
  return [date.getFullYear(), ...parts.map((part) => String(part).padStart(2, '0'))].join('-');
}

/** What can be used no more is as good as none: another takes its place. */
function keptOrNone(certificates: string, key: string): PersistedCertificate | undefined {
  try {
    return keptIn(certificates, key);
  } catch {
    return undefined;
  }
}

/** The first certificate of a text in PEM, which its key has to fit; those after it lead to its authority. */
function keptIn(certificates: string, key: string): PersistedCertificate {
  const first = parsePemBlocks(certificates).find(({ label }) => label === 'CERTIFICATE');
  const secret = parsePemBlocks(key).find(({ label }) => label.endsWith('PRIVATE KEY'));
  if (first === undefined) throw new Error('expected a certificate in PEM, and there is none');
  if (secret === undefined) throw new Error('expected a private key in PEM, and there is none');
  const certificate = new X509Certificate(first.pem);
  if (!certificate.checkPrivateKey(createPrivateKey(secret.pem)))
    throw new Error('expected a certificate of its key, and it is that of another');
  const { validFromDate, validToDate, subjectAltName = '' } = certificate;
  return {
    subject: subjectIn(certificate),
    notBefore: validFromDate.getTime(),
    notAfter: validToDate.getTime(),
    names: namesIn(subjectAltName),
  };
}

function subjectIn(certificate: X509Certificate): CertificateSubject {
  // A name that occurs more than once has a list of values, and a certificate may have no subject.
  const { CN = [], O = [] }: { CN?: string | string[]; O?: string | string[] } =
    certificate.toLegacyObject().subject ?? {};
  return { commonName: [CN].flat().at(-1) ?? '', organizations: [O].flat() };
}

/** The names in the text that OpenSSL prints, such as `DNS:node1, IP Address:FD00:0:0:0:0:0:0:1`. */
function namesIn(text: string): AlternativeNames {
  const of = (kind: string) =>
    text.split(', ').flatMap((each) => (each.startsWith(kind) ? [each.slice(kind.length)] : []));
  return { dnsNames: of('DNS:'), ips: of('IP Address:').map(canonicalIpOrText) };
}
