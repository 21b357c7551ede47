/** Writes changes of one kind of fact to disk in batches. */

import { messageOf, NodeFailure } from '../../base/failure.ts';
import { syncDirectory } from '../../host/files/syncDirectory.ts';
import { CALL_LIMIT_MS, type DiskCall, type DiskCalls } from './diskCalls.ts';
import type { FactChange } from './factChange.ts';
import { type FactFolder, factFile, removeFact, writeFact } from './storeFiles.ts';
import type { UnwrittenFacts } from './unwrittenFacts.ts';

/**
 * Maximum number of concurrent calls for one file, or for the folder. All calls but the last one have hung and been
 * abandoned.
 */
const MAX_CONCURRENT_ATTEMPTS = 2;

/** The concurrent calls for one file, of which only the last is awaited, and the last requested change of the file. */
interface FileAttempts {
  newestChange: FactChange;
  /** Suffixes of the temporary files that the calls write to. */
  readonly suffixes: Set<number>;
}

/**
 * Commits changes in batches. Changes that arrive while a batch is being written become part of the next batch.
 * Therefore a burst of changes costs only one sync of the folder, and several changes of a key are merged.
 *
 * A call that hangs is abandoned after a time limit and retried, and the batch continues without it. If the abandoned
 * call completes after all and a later change has been requested meanwhile, that change is written again. Until the
 * later change is written, the disk may contain the earlier value or none, because a system call cannot be aborted.
 */
export class FolderWriter {
  readonly #factFolder: FactFolder;
  readonly #diskCalls: DiskCalls;
  readonly #unwrittenFacts: UnwrittenFacts;
  readonly #queuedChanges = new Map<string, FactChange>();
  /** Keys of changes that are being written and awaited. */
  readonly #writingKeys = new Set<string>();
  /** Written changes that become durable once the folder is synced. */
  readonly #unsyncedChanges = new Map<string, FactChange>();
  readonly #attemptsByKey = new Map<string, FileAttempts>();
  /** Temporary files left by failed writes, by key. They are removed with the fact or when the agent starts. */
  readonly #leftoversByKey = new Map<string, Set<string>>();
  #syncCount = 0;
  #running: Promise<void> | undefined;
  #isClosed = false;

  constructor(folder: FactFolder, disk: DiskCalls, unwritten: UnwrittenFacts) {
    this.#factFolder = folder;
    this.#diskCalls = disk;
    this.#unwrittenFacts = unwritten;
  }

  /** Settles once every possible write has been attempted. Undefined when idle. */
  get running(): Promise<void> | undefined {
    return this.#running;
  }

  /** Whether a change of the key is queued or in progress. */
  has(key: string): boolean {
    return this.#queuedChanges.has(key) || this.#writingKeys.has(key) || this.#unsyncedChanges.has(key);
  }

  add(change: FactChange): void {
    const { key, waitingCallers } = change;
    waitingCallers.unshift(...(this.#queuedChanges.get(key)?.waitingCallers ?? []));
    this.#queuedChanges.set(key, change);
    const fileAttempts = this.#attemptsByKey.get(key);
    if (fileAttempts !== undefined) fileAttempts.newestChange = change;
    this.start();
  }

  /** Retries a failed change unless a later change of the same key is queued or in progress. */
  retry(change: FactChange): void {
    if (!this.has(change.key)) this.add(change);
  }

  /** Starts writing unless a write is already in progress. */
  start(): void {
    this.#running ??= Promise.resolve().then(() => this.#drain());
  }

  /** Prevents hanging calls from replacing files later, because another process may write the files from then on. */
  close(): void {
    this.#isClosed = true;
  }

  async #drain(): Promise<void> {
    for (;;) {
      const batch = this.#nextBatch();
      if (batch.length === 0 && !this.#canSync()) break;
      const failedChanges = new Map<FactChange, unknown>();
      await Promise.all(batch.map((change) => this.#putChange(change, failedChanges)));
      this.#unwrittenFacts.add(failedChanges);
      // Failed changes stay in `#writingKeys` until the whole batch has been attempted. Otherwise they would be
      // considered written while another change of the batch hangs.
      for (const { key } of failedChanges.keys()) this.#writingKeys.delete(key);
      if (this.#unsyncedChanges.size > 0) await this.#syncChanges();
    }
    this.#running = undefined;
  }

  #nextBatch(): FactChange[] {
    if (this.#diskCalls.isStuck) return [];
    const canStart = ({ key }: FactChange) =>
      (this.#attemptsByKey.get(key)?.suffixes.size ?? 0) < MAX_CONCURRENT_ATTEMPTS;
    const batch = [...this.#queuedChanges.values()].filter(canStart);
    for (const { key } of batch) {
      this.#queuedChanges.delete(key);
      this.#writingKeys.add(key);
    }
    return batch;
  }

  #canSync(): boolean {
    return this.#unsyncedChanges.size > 0 && this.#syncCount < MAX_CONCURRENT_ATTEMPTS && !this.#diskCalls.isStuck;
  }

  async #putChange(change: FactChange, failed: Map<FactChange, unknown>): Promise<void> {
    const { key } = change;
    try {
      const writeOutcome = await this.#diskCalls.run((call) => this.#writeChange(change, call));
      this.#writingKeys.delete(key);
      if (writeOutcome === 'done') return this.#addUnsynced(change);
      failed.set(change, abandonedError(writeOutcome, `${factFile(this.#factFolder, key)} was not written`));
      this.#requeueChange(change);
    } catch (cause) {
      failed.set(change, cause);
      rejectAll(change, cause);
    }
  }

  /** Records a written change. Callers that wait for an earlier change of the key now wait for this one. */
  #addUnsynced(change: FactChange): void {
    change.waitingCallers.push(...(this.#unsyncedChanges.get(change.key)?.waitingCallers ?? []));
    this.#unsyncedChanges.set(change.key, change);
  }

  /** Queues the change again. If a later change is queued, only adds the waiting callers to it. */
  #requeueChange(change: FactChange): void {
    const queuedChange = this.#queuedChanges.get(change.key);
    if (queuedChange === undefined) this.#queuedChanges.set(change.key, change);
    else queuedChange.waitingCallers.push(...change.waitingCallers);
  }

  async #writeChange(change: FactChange, call: DiskCall): Promise<void> {
    const { key } = change;
    const fileAttempts = this.#attemptsByKey.get(key) ?? {
      newestChange: this.#queuedChanges.get(key) ?? change,
      suffixes: new Set(),
    };
    this.#attemptsByKey.set(key, fileAttempts);
    const temporarySuffix = fileAttempts.suffixes.has(0) ? 1 : 0;
    fileAttempts.suffixes.add(temporarySuffix);
    const isSuperseded = () => fileAttempts.newestChange.version > change.version;
    try {
      if (!('value' in change)) return await this.#remove(key);
      const canReplace = () => !call.isAbandoned || !(isSuperseded() || this.#isClosed);
      const onLeftover = (file: string) =>
        void this.#leftoversByKey.set(key, new Set([...(this.#leftoversByKey.get(key) ?? []), file]));
      await writeFact(this.#factFolder, change, { suffix: temporarySuffix, mayReplace: canReplace, onLeftover });
    } finally {
      fileAttempts.suffixes.delete(temporarySuffix);
      if (fileAttempts.suffixes.size === 0) this.#attemptsByKey.delete(key);
      if (call.isAbandoned && isSuperseded()) this.#requeueChange({ ...fileAttempts.newestChange, waitingCallers: [] });
    }
  }

  async #remove(key: string): Promise<void> {
    const temporaryLeftovers = this.#leftoversByKey.get(key);
    await removeFact(this.#factFolder, key, temporaryLeftovers ?? []);
    // Retain leftovers that a late call has added during the removal. They are deleted with the next removal of the
    // fact.
    if (this.#leftoversByKey.get(key) === temporaryLeftovers) this.#leftoversByKey.delete(key);
  }

  async #syncChanges(): Promise<void> {
    const failedChanges = new Map<FactChange, unknown>();
    const coveredChanges = [...this.#unsyncedChanges.values()];
    try {
      const syncOutcome = this.#canSync()
        ? await this.#diskCalls.run(() => this.#syncDirectory(coveredChanges))
        : 'notStarted';
      if (syncOutcome === 'done') return;
      const abandonedFailure = abandonedError(syncOutcome, `${this.#factFolder.directory} was not synced`);
      for (const change of this.#unsyncedChanges.values()) failedChanges.set(change, abandonedFailure);
    } catch (cause) {
      for (const change of this.#takeUnsyncedChanges(coveredChanges)) {
        failedChanges.set(change, cause);
        rejectAll(change, cause);
      }
    }
    this.#unwrittenFacts.add(failedChanges);
  }

  /** Syncs the folder. All changes written before the call are durable once it completes, even if it completes late. */
  async #syncDirectory(covered: readonly FactChange[]): Promise<void> {
    this.#syncCount += 1;
    try {
      await syncDirectory(this.#factFolder.files, this.#factFolder.directory);
    } finally {
      this.#syncCount -= 1;
    }
    const durableChanges = this.#takeUnsyncedChanges(covered);
    this.#unwrittenFacts.release(durableChanges);
    for (const { waitingCallers } of durableChanges) for (const { resolve } of waitingCallers) resolve();
  }

  /** Removes and returns the given changes, except those that a later change of the same key has replaced. */
  #takeUnsyncedChanges(covered: readonly FactChange[]): FactChange[] {
    const currentChanges = covered.filter((change) => this.#unsyncedChanges.get(change.key) === change);
    for (const { key } of currentChanges) this.#unsyncedChanges.delete(key);
    return currentChanges;
  }
}

const abandonedError = (outcome: 'abandoned' | 'notStarted', problem: string): Error =>
  new Error(
    outcome === 'abandoned'
      ? `${problem} within ${CALL_LIMIT_MS / 1_000}s`
      : `${problem}: too many earlier disk operations have not completed`,
  );

function rejectAll({ waitingCallers }: FactChange, cause: unknown): void {
  const storeFailure = new NodeFailure('StoreFailed', `state could not be saved: ${messageOf(cause)}`, { cause });
  for (const { reject } of waitingCallers) reject(storeFailure);
}
