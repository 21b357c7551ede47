/** Brings changes of durable facts to disk, each kind by itself. */
import { DiskCalls } from './diskCalls.ts';
import { type FactChange, idOf } from './factChange.ts';
import { FolderWriter } from './folderWriter.ts';
import type { FactFolder } from './storeFiles.ts';
import { type Retrying, type StoreFailure, UnwrittenFacts } from './unwrittenFacts.ts';

export class StoreBatches {
  readonly #folderOf: (kind: string) => FactFolder;
  readonly #unwritten: UnwrittenFacts;
  readonly #disk: DiskCalls;
  readonly #writers = new Map<string, FolderWriter>();
  #version = 0;
  #isClosed = false;

  /** `threads`: how many calls to the disk can be under way at a time. */
  constructor(folderOf: (kind: string) => FactFolder, threads: number, retrying: Retrying) {
    this.#folderOf = folderOf;
    this.#disk = new DiskCalls(threads, retrying.clock, () => {
      if (this.#isClosed) return;
      for (const writer of this.#writers.values()) writer.begin();
    });
    this.#unwritten = new UnwrittenFacts(retrying, (changes) => {
      for (const change of changes) this.#writerOf(change.kind).addAgain(change);
    });
  }

  /** Resolves when the change, or a later one of the same fact, is durable. */
  change(wanted: Pick<FactChange, 'kind' | 'key' | 'value'>): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#version += 1;
    this.#writerOf(wanted.kind).add({ ...wanted, version: this.#version, waiting: [{ resolve, reject }] });
    return promise;
  }

  /**
   * Resolves when all has been tried, what had failed before once more. Calls that hang keep it no longer than each of
   * them is waited for.
   */
  async flush(): Promise<void> {
    await this.#untilIdle();
    if (this.failure() === undefined) return;
    this.#unwritten.tryAgain();
    await this.#untilIdle();
  }

  /** As `flush`, and nothing is tried again by itself any more: no timer is left. */
  async close(): Promise<void> {
    this.#unwritten.close();
    await this.flush();
    this.#isClosed = true;
    for (const writer of this.#writers.values()) writer.close();
  }

  failure(): StoreFailure | undefined {
    return this.#unwritten.failure;
  }

  /** Whether the last change of a key is not durable yet: it is on its way, or failed and is tried again. */
  isUnwritten(kind: string, key: string): boolean {
    return this.#writerOf(kind).has(key) || this.#unwritten.has(idOf({ kind, key }));
  }

  /** Resolves when the last change of a key is durable, however often it has to be tried. */
  async whenWritten(kind: string, key: string): Promise<void> {
    while (this.isUnwritten(kind, key)) await this.#unwritten.nextRelease(idOf({ kind, key }));
  }

  #writerOf(kind: string): FolderWriter {
    const known = this.#writers.get(kind);
    if (known !== undefined) return known;
    const writer = new FolderWriter(this.#folderOf(kind), this.#disk, this.#unwritten);
    this.#writers.set(kind, writer);
    return writer;
  }

  async #untilIdle(): Promise<void> {
    await Promise.all(Array.from(this.#writers.values(), (writer) => writer.running));
  }
}
