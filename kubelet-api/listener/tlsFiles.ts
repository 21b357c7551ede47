/** Certificate, key and client authorities of a server, read again when their files change. */
import { X509Certificate } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/failure.ts';
import type { FileSystem } from '../../host/files/fileSystem.ts';
import { pemBlocks } from '../../kubeclient/pemBlocks.ts';
import { type CertificatePair, readPair, textOf, told } from './servingCertificate.ts';

interface Options {
  readonly pair: CertificatePair;
  /** Whether the pair may come later: nobody can shake hands until then. */
  readonly isAwaited: boolean;
  readonly clientCaFile?: string;
  readonly files: FileSystem;
  readonly clock: Clock;
  /** Told once of what cannot be used; what was read before stays in use. */
  readonly onProblem: (problem: string) => void;
}

export interface Material {
  readonly cert?: string;
  readonly key?: string;
  readonly ca?: string;
}

/** A kubelet looks each minute beside being told; a look costs three small reads. */
const LOOK_MS = 10_000;

export class TlsFiles {
  readonly #options: Options;
  #material: Material = {};
  #authorities: readonly X509Certificate[] = [];
  #problem = '';
  #timer: unknown;
  #onChange: (material: Material, isOfClients: boolean) => void = () => {};
  #looking: Promise<void> | undefined;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Those that vouch for clients: another array once they have changed. */
  get authorities(): readonly X509Certificate[] {
    return this.#authorities;
  }

  /** Reads all for the first time; rejects where anything is wrong that is not awaited. */
  async load(): Promise<Material> {
    this.#use(await this.#read());
    return this.#material;
  }

  /** From now on tells of each change, and whether it concerns those who vouch for clients. */
  follow(onChange: (material: Material, isOfClients: boolean) => void): void {
    this.#onChange = onChange;
    this.#wait();
  }

  /** Looks at once, as somebody knows of a change. */
  look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  end(): void {
    this.#onChange = () => {};
    this.#options.clock.clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #wait(): void {
    const { clock } = this.#options;
    this.#timer = clock.setTimeout(() => {
      void this.look().then(() => {
        if (this.#timer !== undefined) this.#wait();
      });
    }, LOOK_MS);
  }

  async #look(): Promise<void> {
    const before = this.#material;
    try {
      const material = await this.#read();
      this.#problem = '';
      if (material.cert === before.cert && material.key === before.key && material.ca === before.ca) return;
      this.#use(material);
      this.#onChange(material, material.ca !== before.ca);
    } catch (error) {
      const problem = messageOf(error);
      if (problem !== this.#problem) this.#options.onProblem(problem);
      this.#problem = problem;
    }
  }

  #use(material: Material): void {
    if (material.ca !== this.#material.ca) this.#authorities = authoritiesIn(material.ca ?? '');
    this.#material = material;
  }

  async #read(): Promise<Material> {
    const { files, pair, isAwaited, clientCaFile } = this.#options;
    const found = await readPair(files, pair);
    if (found === undefined && (!isAwaited || this.#material.cert !== undefined))
      throw new Error(`${pair.certFile}, ${pair.keyFile}: no such file`);
    if (clientCaFile === undefined) return { ...found };
    const ca = await textOf(files, clientCaFile);
    if (ca === undefined) throw new Error(`${clientCaFile}: no such file`);
    if (told(clientCaFile, () => authoritiesIn(ca)).length === 0)
      throw new Error(`${clientCaFile}: expected certificates in PEM, and there is none`);
    return { ...found, ca };
  }
}

const authoritiesIn = (text: string): X509Certificate[] =>
  pemBlocks(text)
    .filter(({ label }) => label === 'CERTIFICATE')
    .map(({ text: block }) => new X509Certificate(block));
