/** Reads the certificate, key and client authorities of a server, and rereads them when their files change. */
import { X509Certificate } from 'node:crypto';
import { messageOf } from '../../base/failure.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { FileSystem } from '../../host/files/fileSystem.ts';
import { parsePemBlocks } from '../../kubeclient/pemBlocks.ts';
import { type CertificatePair, readPair, readTextOrUndefined, withFileName } from './servingCertificate.ts';

interface TlsFilesOptions {
  readonly certificatePair: CertificatePair;
  /** Whether to start without the certificate and key. TLS handshakes fail until they exist. */
  readonly isAwaited: boolean;
  readonly clientCaFile?: string;
  readonly files: FileSystem;
  readonly clock: Clock;
  /** Called once per problem. The previous certificates stay in use. */
  readonly onProblem: (problem: string) => void;
}

export interface TlsMaterial {
  readonly cert?: string;
  readonly key?: string;
  readonly ca?: string;
}

/**
 * Interval between checks for changes. The kubelet checks every minute and also watches the files. A check costs three
 * small reads.
 */
const CHECK_INTERVAL_MS = 10_000;

export class TlsFiles {
  readonly #options: TlsFilesOptions;
  #material: TlsMaterial = {};
  #authorities: readonly X509Certificate[] = [];
  #lastProblem = '';
  #timer: unknown;
  #onChange: (material: TlsMaterial, haveAuthoritiesChanged: boolean) => void = () => {};
  #currentCheck: Promise<void> | undefined;

  constructor(options: TlsFilesOptions) {
    this.#options = options;
  }

  /** The current client CAs, in a new array after each change. */
  get authorities(): readonly X509Certificate[] {
    return this.#authorities;
  }

  /**
   * Reads all files for the first time. Rejects if a file is invalid or missing. If `isAwaited` is set, the certificate
   * and key may be missing.
   */
  async load(): Promise<TlsMaterial> {
    this.#applyMaterial(await this.#readMaterial());
    return this.#material;
  }

  /** Starts checking for changes. `haveAuthoritiesChanged` is true if the client CAs have changed. */
  follow(onChange: (material: TlsMaterial, haveAuthoritiesChanged: boolean) => void): void {
    this.#onChange = onChange;
    this.#scheduleCheck();
  }

  checkNow(): Promise<void> {
    this.#currentCheck ??= this.#checkFiles().finally(() => {
      this.#currentCheck = undefined;
    });
    return this.#currentCheck;
  }

  end(): void {
    this.#onChange = () => {};
    this.#options.clock.clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #scheduleCheck(): void {
    const { clock } = this.#options;
    this.#timer = clock.setTimeout(() => {
      void this.checkNow().then(() => {
        if (this.#timer !== undefined) this.#scheduleCheck();
      });
    }, CHECK_INTERVAL_MS);
  }

  async #checkFiles(): Promise<void> {
    const previousMaterial = this.#material;
    try {
      const material = await this.#readMaterial();
      this.#lastProblem = '';
      if (
        material.cert === previousMaterial.cert &&
        material.key === previousMaterial.key &&
        material.ca === previousMaterial.ca
      )
        return;
      this.#applyMaterial(material);
      this.#onChange(material, material.ca !== previousMaterial.ca);
    } catch (error) {
      const problem = messageOf(error);
      if (problem !== this.#lastProblem) this.#options.onProblem(problem);
      this.#lastProblem = problem;
    }
  }

  #applyMaterial(material: TlsMaterial): void {
    if (material.ca !== this.#material.ca) this.#authorities = parseAuthorities(material.ca ?? '');
    this.#material = material;
  }

  async #readMaterial(): Promise<TlsMaterial> {
    const { files, certificatePair, isAwaited, clientCaFile } = this.#options;
    const pairContent = await readPair(files, certificatePair);
    if (pairContent === undefined && (!isAwaited || this.#material.cert !== undefined))
      throw new Error(`${certificatePair.certFile}, ${certificatePair.keyFile}: no such file`);
    if (clientCaFile === undefined) return { ...pairContent };
    const ca = await readTextOrUndefined(files, clientCaFile);
    if (ca === undefined) throw new Error(`${clientCaFile}: no such file`);
    if (withFileName(clientCaFile, () => parseAuthorities(ca)).length === 0)
      throw new Error(`${clientCaFile}: expected certificates in PEM, and there is none`);
    return { ...pairContent, ca };
  }
}

const parseAuthorities = (text: string): X509Certificate[] =>
  parsePemBlocks(text)
    .filter(({ label }) => label === 'CERTIFICATE')
    .map(({ pem }) => new X509Certificate(pem));
