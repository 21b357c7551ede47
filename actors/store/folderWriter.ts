/** Brings changes of one kind of facts to disk, many at a time. */

import { messageOf, NodeFailure } from '../../base/failure.ts';
import { syncDirectory } from '../../host/files/syncDirectory.ts';
import { CALL_LIMIT_MS, type DiskCall, type DiskCalls } from './diskCalls.ts';
import type { FactChange } from './factChange.ts';
import { type FactFolder, factFile, removeFact, writeFact } from './storeFiles.ts';
import type { UnwrittenFacts } from './unwrittenFacts.ts';

/** So many calls there are of one file, or of the folder, at a time: all but one of them hang. */
const ATTEMPTS = 2;

/** The calls of one file, the last of which is waited for; and the last change that is wanted of it. */
interface Attempts {
  newest: FactChange;
  /** What each calls its temporary file by. */
  readonly numbers: Set<number>;
}

/**
 * Commits changes in batches: what comes while one batch is on its way to disk goes with the next, so that a burst of
 * changes costs one sync of the folder, and several changes of a key are one.
 *
 * What hangs is left behind after a while and begun once more, with those who wait for it; the batch goes on without it.
 * Should it end after all, and a later change be wanted by then, that one is written again, whatever has become of it.
 * Until then the disk may have the earlier value, or none: nothing can stop a call that the kernel has begun.
 */
export class FolderWriter {
  readonly #folder: FactFolder;
  readonly #disk: DiskCalls;
  readonly #unwritten: UnwrittenFacts;
  readonly #queued = new Map<string, FactChange>();
  /** What is being written and waited for. */
  readonly #inHand = new Set<string>();
  /** What is written, and durable once the folder is synced. */
  readonly #inPlace = new Map<string, FactChange>();
  readonly #attempts = new Map<string, Attempts>();
  /** The temporary files that failures have left, by key: they go with the fact, or with the next start. */
  readonly #left = new Map<string, Set<string>>();
  #syncs = 0;
  #running: Promise<void> | undefined;
  #isClosed = false;

  constructor(folder: FactFolder, disk: DiskCalls, unwritten: UnwrittenFacts) {
    this.#folder = folder;
    this.#disk = disk;
    this.#unwritten = unwritten;
  }

  /** Until all has been tried that can be. */
  get running(): Promise<void> | undefined {
    return this.#running;
  }

  /** Whether a change of the key is on its way. */
  has(key: string): boolean {
    return this.#queued.has(key) || this.#inHand.has(key) || this.#inPlace.has(key);
  }

  add(change: FactChange): void {
    const { key, waiting } = change;
    waiting.unshift(...(this.#queued.get(key)?.waiting ?? []));
    this.#queued.set(key, change);
    const attempts = this.#attempts.get(key);
    if (attempts !== undefined) attempts.newest = change;
    this.begin();
  }

  /** What failed before, unless a later change of the key is on its way. */
  addAgain(change: FactChange): void {
    if (!this.has(change.key)) this.add(change);
  }

  /** Goes on with what can be. */
  begin(): void {
    this.#running ??= Promise.resolve().then(() => this.#drain());
  }

  /** What hangs puts nothing in its place any more: another process may write here by then. */
  close(): void {
    this.#isClosed = true;
  }

  async #drain(): Promise<void> {
    for (;;) {
      const batch = this.#nextBatch();
      if (batch.length === 0 && !this.#maySync()) break;
      const failed = new Map<FactChange, unknown>();
      await Promise.all(batch.map((change) => this.#put(change, failed)));
      this.#unwritten.keep(failed);
      // Not before: what fails while another of the batch hangs is not to seem written meanwhile.
      for (const { key } of failed.keys()) this.#inHand.delete(key);
      if (this.#inPlace.size > 0) await this.#sync();
    }
    this.#running = undefined;
  }

  #nextBatch(): FactChange[] {
    if (this.#disk.isStuck) return [];
    const mayBegin = ({ key }: FactChange) => (this.#attempts.get(key)?.numbers.size ?? 0) < ATTEMPTS;
    const batch = [...this.#queued.values()].filter(mayBegin);
    for (const { key } of batch) {
      this.#queued.delete(key);
      this.#inHand.add(key);
    }
    return batch;
  }

  #maySync(): boolean {
    return this.#inPlace.size > 0 && this.#syncs < ATTEMPTS && !this.#disk.isStuck;
  }

  async #put(change: FactChange, failed: Map<FactChange, unknown>): Promise<void> {
    const { key } = change;
    try {
      const outcome = await this.#disk.run((call) => this.#write(change, call));
      this.#inHand.delete(key);
      if (outcome === 'done') return this.#place(change);
      failed.set(change, tooLate(outcome, `${factFile(this.#folder, key)} was not written`));
      this.#queue(change);
    } catch (cause) {
      failed.set(change, cause);
      refuse(change, cause);
    }
  }

  /** Those who waited for an earlier change wait for this one. */
  #place(change: FactChange): void {
    change.waiting.push(...(this.#inPlace.get(change.key)?.waiting ?? []));
    this.#inPlace.set(change.key, change);
  }

  /** It is begun once more, or whatever is wanted by now. */
  #queue(change: FactChange): void {
    const later = this.#queued.get(change.key);
    if (later === undefined) this.#queued.set(change.key, change);
    else later.waiting.push(...change.waiting);
  }

  async #write(change: FactChange, call: DiskCall): Promise<void> {
    const { key } = change;
    const attempts = this.#attempts.get(key) ?? { newest: this.#queued.get(key) ?? change, numbers: new Set() };
    this.#attempts.set(key, attempts);
    const number = attempts.numbers.has(0) ? 1 : 0;
    attempts.numbers.add(number);
    const isLater = () => attempts.newest.version > change.version;
    try {
      if (!('value' in change)) return await this.#remove(key);
      const mayReplace = () => !call.isLeft || !(isLater() || this.#isClosed);
      const onLeft = (file: string) => void this.#left.set(key, new Set([...(this.#left.get(key) ?? []), file]));
      await writeFact(this.#folder, change, { number, mayReplace, onLeft });
    } finally {
      attempts.numbers.delete(number);
      if (attempts.numbers.size === 0) this.#attempts.delete(key);
      if (call.isLeft && isLater()) this.#queue({ ...attempts.newest, waiting: [] });
    }
  }

  async #remove(key: string): Promise<void> {
    const left = this.#left.get(key);
    await removeFact(this.#folder, key, left ?? []);
    // What ended late in the meantime may have left one of its own: that is deleted when the fact is removed after it.
    if (this.#left.get(key) === left) this.#left.delete(key);
  }

  async #sync(): Promise<void> {
    const failed = new Map<FactChange, unknown>();
    const covered = [...this.#inPlace.values()];
    try {
      const outcome = this.#maySync() ? await this.#disk.run(() => this.#syncFolder(covered)) : 'unbegun';
      if (outcome === 'done') return;
      const failure = tooLate(outcome, `${this.#folder.directory} was not synced`);
      for (const change of this.#inPlace.values()) failed.set(change, failure);
    } catch (cause) {
      for (const change of this.#taken(covered)) {
        failed.set(change, cause);
        refuse(change, cause);
      }
    }
    this.#unwritten.keep(failed);
  }

  /** However late it ends: what was in place when it began is durable. */
  async #syncFolder(covered: readonly FactChange[]): Promise<void> {
    this.#syncs += 1;
    try {
      await syncDirectory(this.#folder.files, this.#folder.directory);
    } finally {
      this.#syncs -= 1;
    }
    const durable = this.#taken(covered);
    this.#unwritten.release(durable);
    for (const { waiting } of durable) for (const { resolve } of waiting) resolve();
  }

  /** Those that nothing later has taken the place of since; they are taken note of by whoever asks. */
  #taken(covered: readonly FactChange[]): FactChange[] {
    const taken = covered.filter((change) => this.#inPlace.get(change.key) === change);
    for (const { key } of taken) this.#inPlace.delete(key);
    return taken;
  }
}

const tooLate = (outcome: 'left' | 'unbegun', what: string): Error =>
  new Error(
    outcome === 'left'
      ? `${what} within ${CALL_LIMIT_MS / 1_000}s`
      : `${what}: too many earlier calls to the disk have not been answered`,
  );

/** Tells all who wait for a change that it failed. */
function refuse({ waiting }: FactChange, cause: unknown): void {
  const failure = new NodeFailure('StoreFailed', `state could not be saved: ${messageOf(cause)}`, { cause });
  for (const { reject } of waiting) reject(failure);
}
