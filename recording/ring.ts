/** Writes to a ring of files. The oldest files are deleted when the total size exceeds a limit. */
import { constants } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from '../host/files/fileErrors.ts';
import type { FileSystem } from '../host/files/fileSystem.ts';

export interface RingOptions {
  readonly files: FileSystem;
  /** Directory of the ring. Files whose names do not belong to the ring are ignored. */
  readonly directory: string;
  /** Maximum total size of the files, in bytes. */
  readonly sizeBytes: number;
}

/** Number of files in a full ring, each of which has an equal share of the total size. */
const FILE_COUNT = 8;
const NAME_PATTERN = /^(\d{8,12})\.jsonl\.gz$/;
const NUMBER_DIGITS = 8;
const MAX_NUMBER = 999_999_999_999;
/**
 * Flags for appending to a file. O_CREAT is not set, because a file that was deleted in the meantime must not be
 * recreated without the header at its start. O_NOFOLLOW and O_NONBLOCK protect against a symlink or a pipe at its path.
 */
const APPEND_FLAGS = constants.O_WRONLY | constants.O_APPEND | constants.O_NOFOLLOW | constants.O_NONBLOCK;

interface RingFile {
  readonly path: string;
  size: number;
}

const parseFileNumber = (name: string): number => Number(NAME_PATTERN.exec(name)?.[1]);

/** Returns the names of ring files among `names`, from oldest to newest. */
export const sortRingNames = (names: readonly string[]): string[] =>
  names.filter((name) => NAME_PATTERN.test(name)).sort((left, right) => parseFileNumber(left) - parseFileNumber(right));

export class FileRing {
  readonly #options: RingOptions;
  /** The files from oldest to newest. Undefined if the directory must be read, i.e. initially and after a failure. */
  #ringFiles: RingFile[] | undefined;
  /** The file that is being written. */
  #currentFile: RingFile | undefined;
  #lastFileNumber = 0;

  constructor(options: RingOptions) {
    this.#options = options;
  }

  /** Whether the current file has reached its maximum size. */
  get isFull(): boolean {
    return (this.#currentFile?.size ?? 0) >= this.#options.sizeBytes / FILE_COUNT;
  }

  /**
   * Appends to the current file, or to a new file if `isNewFile` is set. After a failure, the state of the directory is
   * unknown, so the next call reads the directory and starts a new file.
   */
  async append(bytes: Uint8Array, { isNewFile }: { readonly isNewFile: boolean }): Promise<void> {
    try {
      this.#ringFiles ??= await this.#listFiles();
      await this.#deleteOldest(this.#ringFiles, bytes.length);
      if (isNewFile || this.#currentFile === undefined)
        this.#currentFile = await this.#createFile(bytes, this.#ringFiles);
      else await this.#writeBytes(this.#currentFile, bytes, APPEND_FLAGS);
    } catch (error) {
      [this.#ringFiles, this.#currentFile] = [undefined, undefined];
      throw error;
    }
  }

  /**
   * Creates the next file and writes `bytes` to it. Never overwrites an existing file, and deletes the new file if the
   * write fails.
   */
  async #createFile(bytes: Uint8Array, files: RingFile[]): Promise<RingFile> {
    if (this.#lastFileNumber >= MAX_NUMBER)
      throw new Error(`${this.#options.directory}: no number is left for another file after ${MAX_NUMBER}.jsonl.gz`);
    this.#lastFileNumber += 1;
    const name = `${String(this.#lastFileNumber).padStart(NUMBER_DIGITS, '0')}.jsonl.gz`;
    const newFile = { path: join(this.#options.directory, name), size: 0 };
    try {
      await this.#writeBytes(newFile, bytes, 'ax');
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') await this.#options.files.rm(newFile.path, { force: true }).catch(() => {});
      throw error;
    }
    files.push(newFile);
    return newFile;
  }

  async #writeBytes(ringFile: RingFile, bytes: Uint8Array, flags: string | number): Promise<void> {
    const file = await this.#options.files.open(ringFile.path, flags, 0o600);
    try {
      await file.writeFile(bytes);
      ringFile.size += bytes.length;
    } finally {
      await file.close();
    }
  }

  /**
   * Lists the files of previous agents. Creates the directory if it is missing, but not its parent, which may be the
   * mount point of a file system that is not mounted.
   */
  async #listFiles(): Promise<RingFile[]> {
    const { files, directory } = this.#options;
    await files.mkdir(directory, { mode: 0o700 }).catch((error: unknown) => {
      if (errorCode(error) !== 'EEXIST') throw error;
    });
    const ringFiles: RingFile[] = [];
    for (const name of sortRingNames(await files.readdir(directory))) {
      const path = join(directory, name);
      const stats = await files.lstat(path);
      if (stats.isFile()) ringFiles.push({ path, size: stats.size });
      this.#lastFileNumber = Math.max(this.#lastFileNumber, parseFileNumber(name));
    }
    return ringFiles;
  }

  /**
   * Deletes the oldest files until there is room for `bytes` more bytes. A file that cannot be deleted continues to
   * count towards the total size.
   */
  async #deleteOldest(ringFiles: RingFile[], bytes: number): Promise<void> {
    const { files, sizeBytes } = this.#options;
    let totalBytes = ringFiles.reduce((sum, { size }) => sum + size, bytes);
    for (const oldest of ringFiles.slice(0, -1)) {
      if (totalBytes <= sizeBytes) return;
      const isRemoved = await files.rm(oldest.path, { force: true }).then(
        () => true,
        () => false,
      );
      if (!isRemoved) continue;
      ringFiles.splice(ringFiles.indexOf(oldest), 1);
      totalBytes -= oldest.size;
    }
  }
}
