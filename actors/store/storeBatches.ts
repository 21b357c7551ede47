/** Brings changes of durable facts to disk, many at a time. */

import type { EventMessage } from '../../pod/events/recordedEvent.ts';
import { type Failure, messageOf, NodeFailure } from '../../pod/failure.ts';
import type { Clock } from '../clock.ts';
import { type FactFolder, removeFact, syncDirectory, writeFact } from './storeFiles.ts';

/** The last thing wanted of one key, and everybody who waits for it. */
interface Change {
  readonly kind: string;
  readonly key: string;
  /** Absent: the fact is to be deleted. */
  readonly value?: unknown;
  readonly waiting: { resolve: () => void; reject: (error: unknown) => void }[];
}

/** Facts that could not be written: they are kept, and tried again until they are. */
export interface StoreFailure {
  readonly facts: number;
  /** Why the last of them could not be written. */
  readonly failure: Failure;
  /** When it began, and when they are tried next, in milliseconds since the epoch. */
  readonly since: number;
  readonly retryAt: number;
}

export interface Retrying {
  readonly clock: Clock;
  /** Told when facts begin to be unwritten, and with undefined when none is any more. */
  readonly onFailure?: (failure: StoreFailure | undefined) => void;
}

/** What the node's events tell of it. */
export const storeEvent = (failure: StoreFailure | undefined): EventMessage =>
  failure === undefined
    ? { reason: 'StoreRecovered', message: 'The state of the node is being saved again' }
    : {
        eventType: 'Warning',
        reason: 'StoreFailed',
        message: `The state of the node cannot be saved, will retry: ${failure.failure.message}`,
      };

/** A full disk may have room again at any time. */
const RETRY_MS = 5_000;

/** So many files are synced at a time: each holds one of the few threads that all file access shares. */
const PARALLEL_SYNCS = 2;

interface BatchWriter {
  change(wanted: Omit<Change, 'waiting'>): Promise<void>;
  /** Resolves when all has been tried, what had failed before once more. */
  flush(): Promise<void>;
  /** As `flush`, and nothing is tried again by itself any more: no timer is left. */
  close(): Promise<void>;
  failure(): StoreFailure | undefined;
  /** Whether the last change of a key is not durable yet: it is on its way, or failed and is tried again. */
  isUnwritten(kind: string, key: string): boolean;
}

/**
 * Keeps what could not be written, and has it tried again. A change of the same key that came later goes before it.
 */
function unwrittenFacts({ clock, onFailure }: Retrying, again: (changes: readonly Change[]) => void) {
  const kept = new Map<string, Change>();
  let failure: StoreFailure | undefined;
  let timer: unknown;
  let closed = false;
  const tryAgain = () => {
    clock.clearTimeout(timer);
    timer = undefined;
    again([...kept.values()]);
  };
  return {
    tryAgain,
    failure: () => failure,
    has: (id: string) => kept.has(id),
    close: () => {
      closed = true;
      clock.clearTimeout(timer);
    },
    /** What came of a batch; `isNewer` tells of what is to be written in the place of one that failed. */
    settle: (batch: readonly Change[], failed: ReadonlyMap<Change, unknown>, isNewer: (id: string) => boolean) => {
      for (const change of batch) kept.delete(idOf(change));
      for (const change of failed.keys())
        if (!isNewer(idOf(change))) kept.set(idOf(change), { ...change, waiting: [] });
      const before = failure;
      // What failed and is on its way again in another form is no less unwritten.
      const facts = new Set([...kept.keys(), ...[...failed.keys()].map(idOf)]).size;
      failure = facts === 0 ? undefined : failureNow(facts, { before, failed, at: clock.now() });
      if (failed.size > 0 && kept.size > 0 && !closed) timer ??= clock.setTimeout(tryAgain, RETRY_MS);
      if ((before === undefined) !== (failure === undefined)) onFailure?.(failure);
    },
  };
}

function failureNow(
  facts: number,
  now: {
    readonly before: StoreFailure | undefined;
    readonly failed: ReadonlyMap<Change, unknown>;
    readonly at: number;
  },
): StoreFailure | undefined {
  const { before, failed, at } = now;
  if (failed.size === 0) return before && { ...before, facts };
  const failure: Failure = { reason: 'StoreFailed', message: messageOf([...failed.values()].at(-1)), at };
  return { facts, failure, since: before?.since ?? at, retryAt: at + RETRY_MS };
}

const idOf = ({ kind, key }: Pick<Change, 'kind' | 'key'>): string => `${kind}/${key}`;

/**
 * Commits changes in batches: what comes while one batch is on its way to disk goes with the next, so that a burst
 * of changes costs one sync of each folder, and several changes of a key are one.
 */
export function batchWriter(folderOf: (kind: string) => FactFolder, retrying: Retrying): BatchWriter {
  return new Batches(folderOf, retrying);
}

class Batches implements BatchWriter {
  readonly #folderOf: (kind: string) => FactFolder;
  readonly #unwritten: ReturnType<typeof unwrittenFacts>;
  #pending = new Map<string, Change>();
  #inHand: ReadonlyMap<string, Change> = new Map();
  #running: Promise<void> | undefined;

  constructor(folderOf: (kind: string) => FactFolder, retrying: Retrying) {
    this.#folderOf = folderOf;
    this.#unwritten = unwrittenFacts(retrying, (changes) => {
      for (const change of changes) if (!this.#isLater(idOf(change))) this.#pending.set(idOf(change), change);
      this.#begin();
    });
  }

  change(wanted: Omit<Change, 'waiting'>): Promise<void> {
    const id = idOf(wanted);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting = this.#pending.get(id)?.waiting ?? [];
    waiting.push({ resolve, reject });
    this.#pending.set(id, { ...wanted, waiting });
    this.#begin();
    return promise;
  }

  async flush(): Promise<void> {
    await this.#running;
    if (this.failure() === undefined) return;
    this.#unwritten.tryAgain();
    await this.#running;
  }

  async close(): Promise<void> {
    this.#unwritten.close();
    await this.flush();
  }

  failure(): StoreFailure | undefined {
    return this.#unwritten.failure();
  }

  isUnwritten(kind: string, key: string): boolean {
    const id = idOf({ kind, key });
    return this.#isLater(id) || this.#unwritten.has(id);
  }

  /** Whether a change is wanted, or on its way, that came after any which failed. */
  #isLater(id: string): boolean {
    return this.#pending.has(id) || this.#inHand.has(id);
  }

  #begin(): void {
    this.#running ??= Promise.resolve().then(() => this.#drain());
  }

  async #drain(): Promise<void> {
    while (this.#pending.size > 0) {
      this.#inHand = this.#pending;
      this.#pending = new Map();
      const batch = [...this.#inHand.values()];
      this.#unwritten.settle(batch, await commit(batch, this.#folderOf), (id) => this.#pending.has(id));
      this.#inHand = new Map();
    }
    this.#running = undefined;
  }
}

/** Brings a batch to disk: each file by itself, then each folder once for all of its files. Gives what failed, and why. */
async function commit(
  batch: readonly Change[],
  folderOf: (kind: string) => FactFolder,
): Promise<ReadonlyMap<Change, unknown>> {
  const failed = new Map<Change, unknown>();
  const settled = (changes: readonly Change[], work: () => Promise<void>) =>
    isDone(changes, work, (cause) => {
      for (const change of changes) failed.set(change, cause);
    });
  const queue = batch.values();
  const done: Change[] = [];
  const worker = async () => {
    for (const change of queue) if (await settled([change], () => apply(change, folderOf))) done.push(change);
  };
  await Promise.all(Array.from({ length: PARALLEL_SYNCS }, worker));
  const byKind = Map.groupBy(done, (change) => change.kind);
  await Promise.all(
    [...byKind].map(async ([kind, changes]) => {
      if (!(await settled(changes, () => syncDirectory(folderOf(kind))))) return;
      for (const { waiting } of changes) for (const { resolve } of waiting) resolve();
    }),
  );
  return failed;
}

function apply(change: Change, folderOf: (kind: string) => FactFolder): Promise<void> {
  const folder = folderOf(change.kind);
  return 'value' in change ? writeFact(folder, change.key, change.value) : removeFact(folder, change.key);
}

/** Whether the work succeeded; when it failed, all who wait for these changes are told. */
async function isDone(
  changes: readonly Change[],
  work: () => Promise<void>,
  onFailure: (cause: unknown) => void,
): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (cause) {
    onFailure(cause);
    const message = `state could not be saved: ${messageOf(cause)}`;
    const failure = new NodeFailure('StoreFailed', message, { cause });
    for (const { waiting } of changes) for (const { reject } of waiting) reject(failure);
    return false;
  }
}
