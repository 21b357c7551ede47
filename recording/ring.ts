/** The files of a ring: the oldest go when all of them have become too large. */
import { constants } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from '../host/files/fileErrors.ts';
import type { FileSystem } from '../host/files/fileSystem.ts';

export interface RingOptions {
  readonly files: FileSystem;
  /** In it only files of the ring's own names are looked at. */
  readonly directory: string;
  /** How much all files together may take, in bytes. */
  readonly sizeBytes: number;
}

/** So many files make up a ring: when it is full, so large a part of it goes at once. */
const FILES = 8;
const NAME = /^(\d{8,12})\.jsonl\.gz$/;
const DIGITS = 8;
const LAST_NUMBER = 999_999_999_999;
/**
 * A file that somebody has removed meanwhile is not made again: it would begin in the midst. Of what was put in its place
 * a link is not followed, and a pipe not waited for.
 */
const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_NOFOLLOW | constants.O_NONBLOCK;

interface RingFile {
  readonly path: string;
  size: number;
}

const numberOf = (name: string): number => Number(NAME.exec(name)?.[1]);

/** Those of the names in a directory that files of a ring have, the oldest first. */
export const ringNames = (names: readonly string[]): string[] =>
  names.filter((name) => NAME.test(name)).sort((one, other) => numberOf(one) - numberOf(other));

export class Ring {
  readonly #options: RingOptions;
  /** The oldest first; undefined where it has yet to be looked which there are. */
  #kept: RingFile[] | undefined;
  /** The one that is written to. */
  #current: RingFile | undefined;
  #number = 0;

  constructor(options: RingOptions) {
    this.#options = options;
  }

  /** Whether the file that is written to, if any, is as large as it is to become. */
  get isFull(): boolean {
    return (this.#current?.size ?? 0) >= this.#options.sizeBytes / FILES;
  }

  /**
   * Writes to the end of the present file; `inNew` begins another one. After a failure nothing is known of what is there:
   * the next call begins another file.
   */
  async append(bytes: Uint8Array, { inNew }: { readonly inNew: boolean }): Promise<void> {
    try {
      this.#kept ??= await this.#look();
      await this.#prune(this.#kept, bytes.length);
      if (inNew || this.#current === undefined) this.#current = await this.#begin(bytes, this.#kept);
      else await this.#write(this.#current, bytes, APPEND);
    } catch (error) {
      [this.#kept, this.#current] = [undefined, undefined];
      throw error;
    }
  }

  /** Whatever is there already stays as it is; of a file that cannot be written nothing stays. */
  async #begin(bytes: Uint8Array, kept: RingFile[]): Promise<RingFile> {
    if (this.#number >= LAST_NUMBER)
      throw new Error(`${this.#options.directory}: no number is left for another file after ${LAST_NUMBER}.jsonl.gz`);
    this.#number += 1;
    const name = `${String(this.#number).padStart(DIGITS, '0')}.jsonl.gz`;
    const made = { path: join(this.#options.directory, name), size: 0 };
    try {
      await this.#write(made, bytes, 'ax');
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') await this.#options.files.rm(made.path, { force: true }).catch(() => {});
      throw error;
    }
    kept.push(made);
    return made;
  }

  async #write(to: RingFile, bytes: Uint8Array, flags: string | number): Promise<void> {
    const file = await this.#options.files.open(to.path, flags, 0o600);
    try {
      await file.writeFile(bytes);
      to.size += bytes.length;
    } finally {
      await file.close();
    }
  }

  /** What is there of earlier agents. The directory is made where it is missing, but nothing above it: that may be away. */
  async #look(): Promise<RingFile[]> {
    const { files, directory } = this.#options;
    await files.mkdir(directory, { mode: 0o700 }).catch((error: unknown) => {
      if (errorCode(error) !== 'EEXIST') throw error;
    });
    const kept: RingFile[] = [];
    for (const name of ringNames(await files.readdir(directory))) {
      const path = join(directory, name);
      const stats = await files.lstat(path);
      if (stats.isFile()) kept.push({ path, size: stats.size });
      this.#number = Math.max(this.#number, numberOf(name));
    }
    return kept;
  }

  /** Makes room for so many bytes. What cannot be removed stays, and counts. */
  async #prune(kept: RingFile[], bytes: number): Promise<void> {
    const { files, sizeBytes } = this.#options;
    let all = kept.reduce((sum, { size }) => sum + size, bytes);
    for (const oldest of kept.slice(0, -1)) {
      if (all <= sizeBytes) return;
      const isRemoved = await files.rm(oldest.path, { force: true }).then(
        () => true,
        () => false,
      );
      if (!isRemoved) continue;
      kept.splice(kept.indexOf(oldest), 1);
      all -= oldest.size;
    }
  }
}
