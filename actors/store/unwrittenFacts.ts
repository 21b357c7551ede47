/** Retains durable facts that could not be written and retries the writes until they succeed. */

import { type Failure, messageOf } from '../../base/failure.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { EventMessage } from '../../kubernetes/events/recordedEvent.ts';
import { changeId, type FactChange } from './factChange.ts';

/** The state of the store while facts are unwritten. */
export interface StoreFailure {
  /** The number of unwritten facts. */
  readonly factCount: number;
  readonly lastFailure: Failure;
  /** Time of the first failure, in milliseconds since the epoch. */
  readonly failingSince: number;
  /** Time of the next attempt, in milliseconds since the epoch. */
  readonly nextRetryAt: number;
}

export interface RetryDependencies {
  readonly clock: Clock;
  /** Called when a write has failed, and with undefined once all facts are written. */
  readonly onFailure?: (failure: StoreFailure | undefined) => void;
}

/** Returns the event that reports the state of the store. */
export const storeEvent = (failure: StoreFailure | undefined): EventMessage =>
  failure === undefined
    ? { reason: 'StoreRecovered', message: 'The state of the node is being saved again' }
    : {
        eventType: 'Warning',
        reason: 'StoreFailed',
        message: `The state of the node cannot be saved, will retry: ${failure.lastFailure.message}`,
      };

/**
 * Interval between attempts to write the failed changes. It is short, because a full disk may have free space again at
 * any time.
 */
const RETRY_MS = 5_000;

export class UnwrittenFacts {
  readonly #dependencies: RetryDependencies;
  readonly #onRetry: (changes: readonly FactChange[]) => void;
  /**
   * The last failed change of each fact. It is considered unwritten even while a later change of the same fact is in
   * progress.
   */
  readonly #failedChanges = new Map<string, FactChange>();
  readonly #releaseById = new Map<string, PromiseWithResolvers<void>>();
  #storeFailure: StoreFailure | undefined;
  #timer: unknown;
  #isClosed = false;

  /** `onRetry` retries changes, except those with a later change in progress. */
  constructor(dependencies: RetryDependencies, onRetry: (changes: readonly FactChange[]) => void) {
    this.#dependencies = dependencies;
    this.#onRetry = onRetry;
  }

  get failure(): StoreFailure | undefined {
    return this.#storeFailure;
  }

  has(id: string): boolean {
    return this.#failedChanges.has(id);
  }

  /** Resolves when a change of the fact is durable. */
  waitUntilDurable(id: string): Promise<void> {
    const release = this.#releaseById.get(id) ?? Promise.withResolvers<void>();
    this.#releaseById.set(id, release);
    return release.promise;
  }

  retryAll(): void {
    this.#onRetry([...this.#failedChanges.values()]);
  }

  /** Stops retrying and clears the timer. */
  close(): void {
    this.#isClosed = true;
    this.#dependencies.clock.clearTimeout(this.#timer);
  }

  /** Records changes that could not be written within their time limit, each with its error. */
  add(failed: ReadonlyMap<FactChange, unknown>): void {
    if (failed.size === 0) return;
    for (const change of failed.keys()) {
      const { version = 0 } = this.#failedChanges.get(changeId(change)) ?? {};
      if (version <= change.version) this.#failedChanges.set(changeId(change), { ...change, waitingCallers: [] });
    }
    const at = this.#dependencies.clock.now();
    const lastFailure: Failure = { reason: 'StoreFailed', message: messageOf([...failed.values()].at(-1)), at };
    const { failingSince = at, nextRetryAt = at + RETRY_MS } = this.#storeFailure ?? {};
    this.#setFailure({ factCount: this.#failedChanges.size, lastFailure, failingSince, nextRetryAt });
    if (!this.#isClosed) this.#timer ??= this.#dependencies.clock.setTimeout(() => this.#retry(), RETRY_MS);
  }

  /** Records that changes are durable now. */
  release(durable: readonly FactChange[]): void {
    for (const change of durable) {
      const { version = Number.POSITIVE_INFINITY } = this.#failedChanges.get(changeId(change)) ?? {};
      if (version <= change.version) this.#failedChanges.delete(changeId(change));
      this.#releaseById.get(changeId(change))?.resolve();
      this.#releaseById.delete(changeId(change));
    }
    if (this.#failedChanges.size === 0) {
      this.#dependencies.clock.clearTimeout(this.#timer);
      this.#timer = undefined;
    }
    const factCount = this.#failedChanges.size;
    this.#setFailure(factCount > 0 && this.#storeFailure ? { ...this.#storeFailure, factCount } : undefined);
  }

  #retry(): void {
    const { clock } = this.#dependencies;
    this.#timer = clock.setTimeout(() => this.#retry(), RETRY_MS);
    if (this.#storeFailure) this.#storeFailure = { ...this.#storeFailure, nextRetryAt: clock.now() + RETRY_MS };
    this.retryAll();
  }

  #setFailure(failure: StoreFailure | undefined): void {
    const hasStateChanged = (this.#storeFailure === undefined) !== (failure === undefined);
    this.#storeFailure = failure;
    if (hasStateChanged) this.#dependencies.onFailure?.(failure);
  }
}
