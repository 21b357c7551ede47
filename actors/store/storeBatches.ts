/** Writes changes of durable facts to disk, separately for each kind. */
import { DiskCalls } from './diskCalls.ts';
import { changeId, type FactChange } from './factChange.ts';
import { FolderWriter } from './folderWriter.ts';
import type { FactFolder } from './storeFiles.ts';
import { type RetryDependencies, type StoreFailure, UnwrittenFacts } from './unwrittenFacts.ts';

export class StoreBatches {
  readonly #createFolder: (kind: string) => FactFolder;
  readonly #unwrittenFacts: UnwrittenFacts;
  readonly #diskCalls: DiskCalls;
  readonly #writerByKind = new Map<string, FolderWriter>();
  #version = 0;
  #isClosed = false;

  /** `threads` is the number of disk operations that the process can run concurrently. */
  constructor(folderOf: (kind: string) => FactFolder, threads: number, retryParts: RetryDependencies) {
    this.#createFolder = folderOf;
    this.#diskCalls = new DiskCalls(threads, retryParts.clock, () => {
      if (this.#isClosed) return;
      for (const writer of this.#writerByKind.values()) writer.start();
    });
    this.#unwrittenFacts = new UnwrittenFacts(retryParts, (changes) => {
      for (const change of changes) this.#getWriter(change.kind).retry(change);
    });
  }

  /** Resolves when the change, or a later one of the same fact, is durable. */
  change(change: Pick<FactChange, 'kind' | 'key' | 'value'>): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#version += 1;
    this.#getWriter(change.kind).add({ ...change, version: this.#version, waitingCallers: [{ resolve, reject }] });
    return promise;
  }

  /**
   * Resolves when every change has been attempted, including another attempt for failed changes. A hanging call delays
   * this only up to its time limit.
   */
  async flush(): Promise<void> {
    await this.#waitUntilIdle();
    if (this.failure() === undefined) return;
    this.#unwrittenFacts.retryAll();
    await this.#waitUntilIdle();
  }

  /** Flushes and then stops retrying, so that no timer remains. */
  async close(): Promise<void> {
    this.#unwrittenFacts.close();
    await this.flush();
    this.#isClosed = true;
    for (const writer of this.#writerByKind.values()) writer.close();
  }

  failure(): StoreFailure | undefined {
    return this.#unwrittenFacts.failure;
  }

  /** Whether the last change of a key is not durable yet, because it is in progress or has failed and is retried. */
  isUnwritten(kind: string, key: string): boolean {
    return this.#getWriter(kind).has(key) || this.#unwrittenFacts.has(changeId({ kind, key }));
  }

  /** Resolves when the last change of a key is durable, after any number of attempts. */
  async whenWritten(kind: string, key: string): Promise<void> {
    while (this.isUnwritten(kind, key)) await this.#unwrittenFacts.waitUntilDurable(changeId({ kind, key }));
  }

  #getWriter(kind: string): FolderWriter {
    const existing = this.#writerByKind.get(kind);
    if (existing !== undefined) return existing;
    const folderWriter = new FolderWriter(this.#createFolder(kind), this.#diskCalls, this.#unwrittenFacts);
    this.#writerByKind.set(kind, folderWriter);
    return folderWriter;
  }

  async #waitUntilIdle(): Promise<void> {
    await Promise.all(Array.from(this.#writerByKind.values(), (writer) => writer.running));
  }
}
