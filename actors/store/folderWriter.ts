/** Writes changes of one kind of facts to disk in batches. */

import { messageOf, NodeFailure } from '../../base/failure.ts';
import { syncDirectory } from '../../host/files/syncDirectory.ts';
import { CALL_LIMIT_MS, type DiskCall, type DiskCalls } from './diskCalls.ts';
import type { FactChange } from './factChange.ts';
import { type FactFolder, factFile, removeFact, writeFact } from './storeFiles.ts';
import type { UnwrittenFacts } from './unwrittenFacts.ts';

/**
 * Maximum number of concurrent calls for one file, or for the folder. All but the last one are hanging calls that were
 * abandoned.
 */
const MAX_CONCURRENT_ATTEMPTS = 2;

/** The concurrent calls for one file, of which only the last is awaited, and the last requested change of the file. */
interface Attempts {
  newest: FactChange;
  /** Suffixes of the temporary files of the calls. */
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
  readonly #folder: FactFolder;
  readonly #disk: DiskCalls;
  readonly #unwritten: UnwrittenFacts;
  readonly #queued = new Map<string, FactChange>();
  /** Keys of changes that are being written and awaited. */
  readonly #writing = new Set<string>();
  /** Written changes that become durable once the folder is synced. */
  readonly #unsynced = new Map<string, FactChange>();
  readonly #attempts = new Map<string, Attempts>();
  /** Temporary files left by failed writes, by key. They are removed with the fact or when the agent starts. */
  readonly #leftovers = new Map<string, Set<string>>();
  #syncCount = 0;
  #running: Promise<void> | undefined;
  #isClosed = false;

  constructor(folder: FactFolder, disk: DiskCalls, unwritten: UnwrittenFacts) {
    this.#folder = folder;
    this.#disk = disk;
    this.#unwritten = unwritten;
  }

  /** Pending until every possible write has been attempted. Undefined when idle. */
  get running(): Promise<void> | undefined {
    return this.#running;
  }

  /** Whether a change of the key is queued or in progress. */
  has(key: string): boolean {
    return this.#queued.has(key) || this.#writing.has(key) || this.#unsynced.has(key);
  }

  add(change: FactChange): void {
    const { key, waiting } = change;
    waiting.unshift(...(this.#queued.get(key)?.waiting ?? []));
    this.#queued.set(key, change);
    const attempts = this.#attempts.get(key);
    if (attempts !== undefined) attempts.newest = change;
    this.start();
  }

  /** Retries a failed change unless a later one of the key is queued or in progress. */
  retry(change: FactChange): void {
    if (!this.has(change.key)) this.add(change);
  }

  /** Starts writing unless it is in progress. */
  start(): void {
    this.#running ??= Promise.resolve().then(() => this.#drain());
  }

  /** Prevents hanging calls from replacing files later, because another process may be writing the files by then. */
  close(): void {
    this.#isClosed = true;
  }

  async #drain(): Promise<void> {
    for (;;) {
      const batch = this.#nextBatch();
      if (batch.length === 0 && !this.#maySync()) break;
      const failed = new Map<FactChange, unknown>();
      await Promise.all(batch.map((change) => this.#put(change, failed)));
      this.#unwritten.add(failed);
      // Failed changes stay in `#writing` until the whole batch has been attempted. Otherwise they would appear as
      // written while another change of the batch hangs.
      for (const { key } of failed.keys()) this.#writing.delete(key);
      if (this.#unsynced.size > 0) await this.#sync();
    }
    this.#running = undefined;
  }

  #nextBatch(): FactChange[] {
    if (this.#disk.isStuck) return [];
    const mayStart = ({ key }: FactChange) => (this.#attempts.get(key)?.suffixes.size ?? 0) < MAX_CONCURRENT_ATTEMPTS;
    const batch = [...this.#queued.values()].filter(mayStart);
    for (const { key } of batch) {
      this.#queued.delete(key);
      this.#writing.add(key);
    }
    return batch;
  }

  #maySync(): boolean {
    return this.#unsynced.size > 0 && this.#syncCount < MAX_CONCURRENT_ATTEMPTS && !this.#disk.isStuck;
  }

  async #put(change: FactChange, failed: Map<FactChange, unknown>): Promise<void> {
    const { key } = change;
    try {
      const outcome = await this.#disk.run((call) => this.#write(change, call));
      this.#writing.delete(key);
      if (outcome === 'done') return this.#addUnsynced(change);
      failed.set(change, abandonedError(outcome, `${factFile(this.#folder, key)} was not written`));
      this.#requeue(change);
    } catch (cause) {
      failed.set(change, cause);
      rejectAll(change, cause);
    }
  }

  /** Records a written change. The callers that wait for an earlier change of the key wait for this one. */
  #addUnsynced(change: FactChange): void {
    change.waiting.push(...(this.#unsynced.get(change.key)?.waiting ?? []));
    this.#unsynced.set(change.key, change);
  }

  /** Queues the change again, or merges its waiting callers into a later one. */
  #requeue(change: FactChange): void {
    const queued = this.#queued.get(change.key);
    if (queued === undefined) this.#queued.set(change.key, change);
    else queued.waiting.push(...change.waiting);
  }

  async #write(change: FactChange, call: DiskCall): Promise<void> {
    const { key } = change;
    const attempts = this.#attempts.get(key) ?? { newest: this.#queued.get(key) ?? change, suffixes: new Set() };
    this.#attempts.set(key, attempts);
    const suffix = attempts.suffixes.has(0) ? 1 : 0;
    attempts.suffixes.add(suffix);
    const isSuperseded = () => attempts.newest.version > change.version;
    try {
      if (!('value' in change)) return await this.#remove(key);
      const mayReplace = () => !call.isAbandoned || !(isSuperseded() || this.#isClosed);
      const onLeftover = (file: string) =>
        void this.#leftovers.set(key, new Set([...(this.#leftovers.get(key) ?? []), file]));
      await writeFact(this.#folder, change, { suffix, mayReplace, onLeftover });
    } finally {
      attempts.suffixes.delete(suffix);
      if (attempts.suffixes.size === 0) this.#attempts.delete(key);
      if (call.isAbandoned && isSuperseded()) this.#requeue({ ...attempts.newest, waiting: [] });
    }
  }

  async #remove(key: string): Promise<void> {
    const leftovers = this.#leftovers.get(key);
    await removeFact(this.#folder, key, leftovers ?? []);
    // A call that completed late meanwhile may have left a file of its own. It is deleted with the next removal of the
    // fact.
    if (this.#leftovers.get(key) === leftovers) this.#leftovers.delete(key);
  }

  async #sync(): Promise<void> {
    const failed = new Map<FactChange, unknown>();
    const covered = [...this.#unsynced.values()];
    try {
      const outcome = this.#maySync() ? await this.#disk.run(() => this.#syncFolder(covered)) : 'notStarted';
      if (outcome === 'done') return;
      const failure = abandonedError(outcome, `${this.#folder.directory} was not synced`);
      for (const change of this.#unsynced.values()) failed.set(change, failure);
    } catch (cause) {
      for (const change of this.#takeUnsynced(covered)) {
        failed.set(change, cause);
        rejectAll(change, cause);
      }
    }
    this.#unwritten.add(failed);
  }

  /** Syncs the folder. Even if the call completes late, all changes written before it are durable. */
  async #syncFolder(covered: readonly FactChange[]): Promise<void> {
    this.#syncCount += 1;
    try {
      await syncDirectory(this.#folder.files, this.#folder.directory);
    } finally {
      this.#syncCount -= 1;
    }
    const durable = this.#takeUnsynced(covered);
    this.#unwritten.release(durable);
    for (const { waiting } of durable) for (const { resolve } of waiting) resolve();
  }

  /** Removes and returns the changes that no later change has replaced. */
  #takeUnsynced(covered: readonly FactChange[]): FactChange[] {
    const current = covered.filter((change) => this.#unsynced.get(change.key) === change);
    for (const { key } of current) this.#unsynced.delete(key);
    return current;
  }
}

const abandonedError = (outcome: 'abandoned' | 'notStarted', problem: string): Error =>
  new Error(
    outcome === 'abandoned'
      ? `${problem} within ${CALL_LIMIT_MS / 1_000}s`
      : `${problem}: too many earlier disk operations have not completed`,
  );

/** Rejects all callers that wait for a change. */
function rejectAll({ waiting }: FactChange, cause: unknown): void {
  const failure = new NodeFailure('StoreFailed', `state could not be saved: ${messageOf(cause)}`, { cause });
  for (const { reject } of waiting) reject(failure);
}
