/** Stores records of the node's image pulls in files like a kubelet's. The files are read once and cached in memory. */
import { dirname, join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { orElse } from '../../host/files/fileErrors.ts';
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

const TEMPORARY = '.tmp';

export interface PullRecordsParts {
  readonly rootDir: string;
  readonly files: FileSystem;
  readonly clock: Clock;
  /** Called if a record cannot be used or deleted. */
  readonly onError: (error: unknown) => void;
  readonly serviceActions?: ((action: ServiceAction) => void) | undefined;
}

/** The directories `pulling` and `pulled` below `<root>/image_manager`. */
export class PullRecords {
  readonly #parts: PullRecordsParts;
  readonly #pulling: string;
  readonly #pulled: string;
  /** Keyed by the runtime's image reference. Null for an unreadable record, which proves nothing. */
  readonly #records = new Map<string, PulledRecord | null>();
  /** Images with an intent on disk. */
  readonly #intents = new Set<string>();
  /** Paths of unreadable files, of which only the name is known. */
  readonly #unreadable = new Set<string>();
  /** The last operation on each file, because concurrent writers of a file would share its temporary file. */
  readonly #pendingWrites = new Map<string, Promise<unknown>>();

  private constructor(parts: PullRecordsParts) {
    this.#parts = parts;
    this.#pulling = join(parts.rootDir, 'image_manager', 'pulling');
    this.#pulled = join(parts.rootDir, 'image_manager', 'pulled');
  }

  /** Reads all records. Rejects if the directories cannot be read. */
  static async open(parts: PullRecordsParts): Promise<PullRecords> {
    const records = new PullRecords(parts);
    for (const text of await records.#readTexts(records.#pulling)) {
      const image = readIntent(text.content);
      if (image !== undefined) records.#intents.add(image);
      else records.#reportUnreadable(text.file);
    }
    for (const text of await records.#readTexts(records.#pulled)) {
      const record = readRecord(text.content);
      if (record !== undefined) records.#records.set(record.imageRef, record);
      else records.#reportUnreadable(text.file);
    }
    return records;
  }

  /** Returns null for a record that cannot be read. */
  recordOf(imageRef: string): PulledRecord | null | undefined {
    return (
      this.#records.get(imageRef) ??
      (this.#unreadable.has(join(this.#pulled, recordFileName(imageRef))) ? null : undefined)
    );
  }

  hasIntent(image: string): boolean {
    return this.#intents.has(image) || this.#unreadable.has(join(this.#pulling, recordFileName(image)));
  }

  get intents(): ReadonlySet<string> {
    return this.#intents;
  }

  get imageRefs(): readonly string[] {
    return [...this.#records.keys()];
  }

  async putIntent(image: string): Promise<void> {
    this.#intents.add(image);
    await this.#write(this.#pulling, image, formatIntent(image));
    this.#reportSizes();
  }

  async removeIntent(image: string): Promise<void> {
    await this.#remove(this.#pulling, image);
    this.#intents.delete(image);
    this.#reportSizes();
  }

  /** Stores a record. The record in memory is used even if writing the file fails. */
  async putRecord(record: PulledRecord): Promise<void> {
    this.#records.set(record.imageRef, record);
    await this.#write(this.#pulled, record.imageRef, formatRecord(record, this.#parts.clock.now()));
    this.#reportSizes();
  }

  async removeRecord(imageRef: string): Promise<void> {
    this.#records.delete(imageRef);
    await this.#remove(this.#pulled, imageRef);
    this.#reportSizes();
  }

  /** Reports the number of records and intents. Like in a kubelet, unreadable files count. */
  #reportSizes(): void {
    const unreadableIn = (directory: string) =>
      [...this.#unreadable].filter((file) => dirname(file) === directory).length;
    this.#parts.serviceActions?.({
      action: 'pullRecordsChanged',
      records: this.#records.size + unreadableIn(this.#pulled),
      intents: this.#intents.size + unreadableIn(this.#pulling),
    });
  }

  #write(directory: string, name: string, text: string): Promise<void> {
    const { files } = this.#parts;
    const file = join(directory, recordFileName(name));
    return this.#serialize(file, async () => {
      await files.mkdir(directory, { recursive: true, mode: 0o700 });
      try {
        // Flush the file, because an empty file after a power failure would be worse than a missing one.
        await files.writeFile(`${file}${TEMPORARY}`, text, { mode: 0o600, flush: true });
        await files.rename(`${file}${TEMPORARY}`, file);
      } catch (error) {
        await files.rm(`${file}${TEMPORARY}`, { force: true }).catch(() => {});
        throw error;
      }
      this.#unreadable.delete(file);
    });
  }

  #remove(directory: string, name: string): Promise<void> {
    const file = join(directory, recordFileName(name));
    return this.#serialize(file, async () => {
      await this.#parts.files.rm(file, { force: true });
      this.#unreadable.delete(file);
    });
  }

  #serialize<T>(file: string, operation: () => Promise<T>): Promise<T> {
    const result = (this.#pendingWrites.get(file) ?? Promise.resolve()).then(operation, operation);
    this.#pendingWrites.set(file, result);
    const cleanUp = () => {
      if (this.#pendingWrites.get(file) === result) this.#pendingWrites.delete(file);
    };
    result.then(cleanUp, cleanUp);
    return result;
  }

  async #readTexts(directory: string): Promise<{ readonly file: string; readonly content: string }[]> {
    const { files } = this.#parts;
    const names = await files.readdir(directory).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    });
    const texts = [];
    for (const name of names) {
      if (!name.startsWith('sha256-') || name.endsWith(TEMPORARY)) continue;
      const file = join(directory, name);
      texts.push({ file, content: await files.readFile(file).catch(orElse('')) });
    }
    return texts;
  }

  #reportUnreadable(file: string): void {
    this.#unreadable.add(file);
    this.#parts.onError(new Error(`${file} cannot be read: pods that use its image must prove their access again`));
  }
}
