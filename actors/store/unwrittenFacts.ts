/** Retains durable facts that could not be written and retries the writes until they succeed. */

import type { Clock } from '../../base/clock.ts';
import { type Failure, messageOf } from '../../base/failure.ts';
import type { EventMessage } from '../../kubernetes/events/recordedEvent.ts';
import { type FactChange, idOf } from './factChange.ts';

/** The state of the store while facts are unwritten. */
export interface StoreFailure {
  /** The number of unwritten facts. */
  readonly facts: number;
  /** The last failure. */
  readonly failure: Failure;
  /** Time of the first failure, in milliseconds since the epoch. */
  readonly since: number;
  /** Time of the next attempt, in milliseconds since the epoch. */
  readonly retryAt: number;
}

export interface RetryParts {
  readonly clock: Clock;
  /** Called when a write has failed, and with undefined once all facts are written. */
  readonly onFailure?: (failure: StoreFailure | undefined) => void;
}

/** Returns the node's event about the store. */
export const storeEvent = (failure: StoreFailure | undefined): EventMessage =>
  failure === undefined
    ? { reason: 'StoreRecovered', message: 'The state of the node is being saved onRetry' }
    : {
        eventType: 'Warning',
        reason: 'StoreFailed',
        message: `The state of the node cannot be saved, will retry: ${failure.failure.message}`,
      };

/** Interval between attempts. A full disk may have free space again at any time. */
const RETRY_MS = 5_000;

export class UnwrittenFacts {
  readonly #parts: RetryParts;
  readonly #onRetry: (changes: readonly FactChange[]) => void;
  /** The last failed change of each fact. It stays unwritten while a later change of the same fact is in progress. */
  readonly #changes = new Map<string, FactChange>();
  readonly #releases = new Map<string, PromiseWithResolvers<void>>();
  #failure: StoreFailure | undefined;
  #timer: unknown;
  #isClosed = false;

  /** `onRetry` retries changes, except those with a later change in progress. */
  constructor(parts: RetryParts, onRetry: (changes: readonly FactChange[]) => void) {
    this.#parts = parts;
    this.#onRetry = onRetry;
  }

  get failure(): StoreFailure | undefined {
    return this.#failure;
  }

  has(id: string): boolean {
    return this.#changes.has(id);
  }

  /** Resolves when a change of the fact is durable. */
  nextRelease(id: string): Promise<void> {
    const release = this.#releases.get(id) ?? Promise.withResolvers<void>();
    this.#releases.set(id, release);
    return release.promise;
  }

  retryAll(): void {
    this.#onRetry([...this.#changes.values()]);
  }

  /** Stops retrying and clears the timer. */
  close(): void {
    this.#isClosed = true;
    this.#parts.clock.clearTimeout(this.#timer);
  }

  /** Records changes that could not be written within their time limit, each with its error. */
  add(failed: ReadonlyMap<FactChange, unknown>): void {
    if (failed.size === 0) return;
    for (const change of failed.keys()) {
      const { version = 0 } = this.#changes.get(idOf(change)) ?? {};
      if (version <= change.version) this.#changes.set(idOf(change), { ...change, waiting: [] });
    }
    const at = this.#parts.clock.now();
    const failure: Failure = { reason: 'StoreFailed', message: messageOf([...failed.values()].at(-1)), at };
    const { since = at, retryAt = at + RETRY_MS } = this.#failure ?? {};
    this.#setFailure({ facts: this.#changes.size, failure, since, retryAt });
    if (!this.#isClosed) this.#timer ??= this.#parts.clock.setTimeout(() => this.#retry(), RETRY_MS);
  }

  /** Records that changes are durable now. */
  release(durable: readonly FactChange[]): void {
    for (const change of durable) {
      const { version = Number.POSITIVE_INFINITY } = this.#changes.get(idOf(change)) ?? {};
      if (version <= change.version) this.#changes.delete(idOf(change));
      this.#releases.get(idOf(change))?.resolve();
      this.#releases.delete(idOf(change));
    }
    if (this.#changes.size === 0) {
      this.#parts.clock.clearTimeout(this.#timer);
      this.#timer = undefined;
    }
    const facts = this.#changes.size;
    this.#setFailure(facts > 0 && this.#failure ? { ...this.#failure, facts } : undefined);
  }

  #retry(): void {
    const { clock } = this.#parts;
    this.#timer = clock.setTimeout(() => this.#retry(), RETRY_MS);
    if (this.#failure) this.#failure = { ...this.#failure, retryAt: clock.now() + RETRY_MS };
    this.retryAll();
  }

  #setFailure(failure: StoreFailure | undefined): void {
    const hasChanged = (this.#failure === undefined) !== (failure === undefined);
    this.#failure = failure;
    if (hasChanged) this.#parts.onFailure?.(failure);
  }
}
