/**
 * Stores records of the node's image pulls in the same files as the kubelet does. The files are read once and cached in
 * memory.
 */
import { dirname, join } from 'node:path';
import type { Clock } from '../../base/time/clock.ts';
import { defaultIfUnreadable } from '../../host/files/fileErrors.ts';
import type { FileSystem } from '../../host/files/fileSystem.ts';
import {
  formatIntent,
  formatRecord,
  type PulledRecord,
  readIntent,
  readRecord,
  recordFileName,
} from '../../kubernetes/images/pulledRecord.ts';
import type { ServiceAction } from '../serviceAction.ts';

const TEMPORARY_SUFFIX = '.tmp';

export interface PullRecordsDependencies {
  readonly rootDir: string;
  readonly files: FileSystem;
  readonly clock: Clock;
  /** Called if a record cannot be used or deleted. */
  readonly onError: (error: unknown) => void;
  readonly onServiceAction?: ((action: ServiceAction) => void) | undefined;
}

/** Records of image pulls in the directories `pulling` and `pulled` below `<root>/image_manager`. */
export class PullRecords {
  readonly #dependencies: PullRecordsDependencies;
  readonly #pullingDirectory: string;
  readonly #pulledDirectory: string;
  /** Keyed by the runtime's image reference. Null for an unreadable record, which proves nothing. */
  readonly #records = new Map<string, PulledRecord | null>();
  /** Images whose pull intent is on disk. */
  readonly #intentImages = new Set<string>();
  /** Paths of unreadable files, of which only the name is known. */
  readonly #unreadablePaths = new Set<string>();
  /**
   * The last pending operation on each file. Operations on a file run sequentially, because concurrent writers would
   * share its temporary file.
   */
  readonly #pendingWrites = new Map<string, Promise<unknown>>();

  private constructor(dependencies: PullRecordsDependencies) {
    this.#dependencies = dependencies;
    this.#pullingDirectory = join(dependencies.rootDir, 'image_manager', 'pulling');
    this.#pulledDirectory = join(dependencies.rootDir, 'image_manager', 'pulled');
  }

  /** Reads all records. Rejects if the directories cannot be read. */
  static async open(dependencies: PullRecordsDependencies): Promise<PullRecords> {
    const records = new PullRecords(dependencies);
    for (const text of await records.#readFiles(records.#pullingDirectory)) {
      const image = readIntent(text.content);
      if (image !== undefined) records.#intentImages.add(image);
      else records.#reportUnreadable(text.file);
    }
    for (const text of await records.#readFiles(records.#pulledDirectory)) {
      const pullRecord = readRecord(text.content);
      if (pullRecord !== undefined) records.#records.set(pullRecord.imageRef, pullRecord);
      else records.#reportUnreadable(text.file);
    }
    return records;
  }

  /** Returns the record of an image. Null if the record cannot be read, undefined if there is none. */
  recordOf(imageRef: string): PulledRecord | null | undefined {
    return (
      this.#records.get(imageRef) ??
      (this.#unreadablePaths.has(join(this.#pulledDirectory, recordFileName(imageRef))) ? null : undefined)
    );
  }

  hasIntent(image: string): boolean {
    return (
      this.#intentImages.has(image) || this.#unreadablePaths.has(join(this.#pullingDirectory, recordFileName(image)))
    );
  }

  get intents(): ReadonlySet<string> {
    return this.#intentImages;
  }

  get imageRefs(): readonly string[] {
    return [...this.#records.keys()];
  }

  async putIntent(image: string): Promise<void> {
    this.#intentImages.add(image);
    await this.#writeFile(this.#pullingDirectory, image, formatIntent(image));
    this.#reportSizes();
  }

  async removeIntent(image: string): Promise<void> {
    await this.#remove(this.#pullingDirectory, image);
    this.#intentImages.delete(image);
    this.#reportSizes();
  }

  /** Stores a record. The record in memory is used even if writing the file fails. */
  async putRecord(record: PulledRecord): Promise<void> {
    this.#records.set(record.imageRef, record);
    await this.#writeFile(this.#pulledDirectory, record.imageRef, formatRecord(record, this.#dependencies.clock.now()));
    this.#reportSizes();
  }

  async removeRecord(imageRef: string): Promise<void> {
    this.#records.delete(imageRef);
    await this.#remove(this.#pulledDirectory, imageRef);
    this.#reportSizes();
  }

  /** Reports the numbers of pull records and pull intents. As in the kubelet, unreadable files are included. */
  #reportSizes(): void {
    const countUnreadable = (directory: string) =>
      [...this.#unreadablePaths].filter((file) => dirname(file) === directory).length;
    this.#dependencies.onServiceAction?.({
      action: 'pullRecordsChanged',
      records: this.#records.size + countUnreadable(this.#pulledDirectory),
      intents: this.#intentImages.size + countUnreadable(this.#pullingDirectory),
    });
  }

  #writeFile(directory: string, name: string, text: string): Promise<void> {
    const { files } = this.#dependencies;
    const file = join(directory, recordFileName(name));
    return this.#serialize(file, async () => {
      await files.mkdir(directory, { recursive: true, mode: 0o700 });
      try {
        // Flush the file, because a power failure could otherwise leave an empty file, which is worse than a missing
        // one.
        await files.writeFile(`${file}${TEMPORARY_SUFFIX}`, text, { mode: 0o600, flush: true });
        await files.rename(`${file}${TEMPORARY_SUFFIX}`, file);
      } catch (error) {
        await files.rm(`${file}${TEMPORARY_SUFFIX}`, { force: true }).catch(() => {});
        throw error;
      }
      this.#unreadablePaths.delete(file);
    });
  }

  #remove(directory: string, name: string): Promise<void> {
    const file = join(directory, recordFileName(name));
    return this.#serialize(file, async () => {
      await this.#dependencies.files.rm(file, { force: true });
      this.#unreadablePaths.delete(file);
    });
  }

  #serialize<T>(file: string, operation: () => Promise<T>): Promise<T> {
    const result = (this.#pendingWrites.get(file) ?? Promise.resolve()).then(operation, operation);
    this.#pendingWrites.set(file, result);
    const removeTemporary = () => {
      if (this.#pendingWrites.get(file) === result) this.#pendingWrites.delete(file);
    };
    result.then(removeTemporary, removeTemporary);
    return result;
  }

  async #readFiles(directory: string): Promise<{ readonly file: string; readonly content: string }[]> {
    const { files } = this.#dependencies;
    const names = await files.readdir(directory).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    });
    const fileContents = [];
    for (const name of names) {
      if (!name.startsWith('sha256-') || name.endsWith(TEMPORARY_SUFFIX)) continue;
      const file = join(directory, name);
      fileContents.push({ file, content: await files.readFile(file).catch(defaultIfUnreadable('')) });
    }
    return fileContents;
  }

  #reportUnreadable(file: string): void {
    this.#unreadablePaths.add(file);
    this.#dependencies.onError(
      new Error(`${file} cannot be read: pods that use its image must prove their access again`),
    );
  }
}
