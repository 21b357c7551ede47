/** Writes changes of durable facts to disk, separately for each kind. */
import { DiskCalls } from './diskCalls.ts';
import { type FactChange, idOf } from './factChange.ts';
import { FolderWriter } from './folderWriter.ts';
import type { FactFolder } from './storeFiles.ts';
import { type RetryParts, type StoreFailure, UnwrittenFacts } from './unwrittenFacts.ts';

export class StoreBatches {
  readonly #folderOf: (kind: string) => FactFolder;
  readonly #unwritten: UnwrittenFacts;
  readonly #disk: DiskCalls;
  readonly #writers = new Map<string, FolderWriter>();
  #version = 0;
  #isClosed = false;

  /** `threads` is the maximum number of concurrent disk operations of the process. */
  constructor(folderOf: (kind: string) => FactFolder, threads: number, retryParts: RetryParts) {
    this.#folderOf = folderOf;
    this.#disk = new DiskCalls(threads, retryParts.clock, () => {
      if (this.#isClosed) return;
      for (const writer of this.#writers.values()) writer.start();
    });
    this.#unwritten = new UnwrittenFacts(retryParts, (changes) => {
      for (const change of changes) this.#writerOf(change.kind).retry(change);
    });
  }

  /** Resolves when the change, or a later one of the same fact, is durable. */
  change(change: Pick<FactChange, 'kind' | 'key' | 'value'>): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#version += 1;
    this.#writerOf(change.kind).add({ ...change, version: this.#version, waiting: [{ resolve, reject }] });
    return promise;
  }

  /**
   * Resolves when every change has been attempted, including another attempt for failed changes. A hanging call delays
   * this only up to its time limit.
   */
  async flush(): Promise<void> {
    await this.#untilIdle();
    if (this.failure() === undefined) return;
    this.#unwritten.retryAll();
    await this.#untilIdle();
  }

  /** Like `flush`, but also stops retrying, after which no timer remains. */
  async close(): Promise<void> {
    this.#unwritten.close();
    await this.flush();
    this.#isClosed = true;
    for (const writer of this.#writers.values()) writer.close();
  }

  failure(): StoreFailure | undefined {
    return this.#unwritten.failure;
  }

  /** Whether the last change of a key is not durable yet, because it is in progress or has failed and is retried. */
  isUnwritten(kind: string, key: string): boolean {
    return this.#writerOf(kind).has(key) || this.#unwritten.has(idOf({ kind, key }));
  }

  /** Resolves when the last change of a key is durable, after any number of attempts. */
  async whenWritten(kind: string, key: string): Promise<void> {
    while (this.isUnwritten(kind, key)) await this.#unwritten.nextRelease(idOf({ kind, key }));
  }

  #writerOf(kind: string): FolderWriter {
    const existing = this.#writers.get(kind);
    if (existing !== undefined) return existing;
    const writer = new FolderWriter(this.#folderOf(kind), this.#disk, this.#unwritten);
    this.#writers.set(kind, writer);
    return writer;
  }

  async #untilIdle(): Promise<void> {
    await Promise.all(Array.from(this.#writers.values(), (writer) => writer.running));
  }
}
