/** What the node has written down of its pulls, on disk as a kubelet has it; read once, and in memory from then on. */
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
  /** Told of records that cannot be used, or deleted. */
  readonly onError: (error: unknown) => void;
  readonly serviceActions?: ((action: ServiceAction) => void) | undefined;
}

/** The directories `pulling` and `pulled` below `<root>/image_manager`. */
export class PullRecords {
  readonly #parts: PullRecordsParts;
  readonly #pulling: string;
  readonly #pulled: string;
  /** Keyed by the runtime's reference; null for one that cannot be read, which proves nothing. */
  readonly #records = new Map<string, PulledRecord | null>();
  /** The images of which an intent is on disk. */
  readonly #intents = new Set<string>();
  /** Those whose names are all that is known of them. */
  readonly #unread = new Set<string>();
  /** The last thing done to each file: two writers of one would share a temporary file. */
  readonly #turns = new Map<string, Promise<unknown>>();

  private constructor(parts: PullRecordsParts) {
    this.#parts = parts;
    this.#pulling = join(parts.rootDir, 'image_manager', 'pulling');
    this.#pulled = join(parts.rootDir, 'image_manager', 'pulled');
  }

  /** Reads what is there; rejects where that cannot be done. */
  static async open(parts: PullRecordsParts): Promise<PullRecords> {
    const records = new PullRecords(parts);
    for (const text of await records.#textsIn(records.#pulling)) {
      const image = readIntent(text.content);
      if (image !== undefined) records.#intents.add(image);
      else records.#tellUnusable(text.file);
    }
    for (const text of await records.#textsIn(records.#pulled)) {
      const record = readRecord(text.content);
      if (record !== undefined) records.#records.set(record.imageRef, record);
      else records.#tellUnusable(text.file);
    }
    return records;
  }

  /** Null where there is one that cannot be read. */
  recordOf(imageRef: string): PulledRecord | null | undefined {
    return (
      this.#records.get(imageRef) ?? (this.#unread.has(join(this.#pulled, recordFileName(imageRef))) ? null : undefined)
    );
  }

  hasIntent(image: string): boolean {
    return this.#intents.has(image) || this.#unread.has(join(this.#pulling, recordFileName(image)));
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

  /** It holds in memory whatever becomes of the file. */
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

  /** Files that cannot be read count as well, as in a kubelet. */
  #reportSizes(): void {
    const unread = (directory: string) => [...this.#unread].filter((file) => dirname(file) === directory).length;
    this.#parts.serviceActions?.({
      action: 'pullRecordsChanged',
      records: this.#records.size + unread(this.#pulled),
      intents: this.#intents.size + unread(this.#pulling),
    });
  }

  #write(directory: string, name: string, text: string): Promise<void> {
    const { files } = this.#parts;
    const file = join(directory, recordFileName(name));
    return this.#inTurn(file, async () => {
      await files.mkdir(directory, { recursive: true, mode: 0o700 });
      try {
        // A file that is empty after a power cut would say less than none.
        await files.writeFile(`${file}${TEMPORARY}`, text, { mode: 0o600, flush: true });
        await files.rename(`${file}${TEMPORARY}`, file);
      } catch (error) {
        await files.rm(`${file}${TEMPORARY}`, { force: true }).catch(() => {});
        throw error;
      }
      this.#unread.delete(file);
    });
  }

  #remove(directory: string, name: string): Promise<void> {
    const file = join(directory, recordFileName(name));
    return this.#inTurn(file, async () => {
      await this.#parts.files.rm(file, { force: true });
      this.#unread.delete(file);
    });
  }

  #inTurn<T>(file: string, act: () => Promise<T>): Promise<T> {
    const turn = (this.#turns.get(file) ?? Promise.resolve()).then(act, act);
    this.#turns.set(file, turn);
    const forget = () => {
      if (this.#turns.get(file) === turn) this.#turns.delete(file);
    };
    turn.then(forget, forget);
    return turn;
  }

  async #textsIn(directory: string): Promise<{ readonly file: string; readonly content: string }[]> {
    const { files } = this.#parts;
    const names = await files.readdir(directory).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    });
    const found = [];
    for (const name of names) {
      if (!name.startsWith('sha256-') || name.endsWith(TEMPORARY)) continue;
      const file = join(directory, name);
      found.push({ file, content: await files.readFile(file).catch(orElse('')) });
    }
    return found;
  }

  #tellUnusable(file: string): void {
    this.#unread.add(file);
    this.#parts.onError(new Error(`${file} cannot be read: whoever needs that image has to prove its right to it`));
  }
}
