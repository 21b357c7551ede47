/** Durable facts that could not be written: they are kept, and tried again until they are. */

import type { Clock } from '../../base/clock.ts';
import { type Failure, messageOf } from '../../base/failure.ts';
import type { EventMessage } from '../../kubernetes/events/recordedEvent.ts';
import { type FactChange, idOf } from './factChange.ts';

/** What could not be written so far. */
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

export class UnwrittenFacts {
  readonly #retrying: Retrying;
  readonly #again: (changes: readonly FactChange[]) => void;
  /** What failed last of each. While a later change of the same fact is on its way it is no less unwritten. */
  readonly #kept = new Map<string, FactChange>();
  readonly #releases = new Map<string, PromiseWithResolvers<void>>();
  #failure: StoreFailure | undefined;
  #timer: unknown;
  #isClosed = false;

  /** `again` has them tried again: all but those of which something later is on its way. */
  constructor(retrying: Retrying, again: (changes: readonly FactChange[]) => void) {
    this.#retrying = retrying;
    this.#again = again;
  }

  get failure(): StoreFailure | undefined {
    return this.#failure;
  }

  has(id: string): boolean {
    return this.#kept.has(id);
  }

  /** Resolves when a change of the fact is durable. */
  nextRelease(id: string): Promise<void> {
    const release = this.#releases.get(id) ?? Promise.withResolvers<void>();
    this.#releases.set(id, release);
    return release.promise;
  }

  tryAgain(): void {
    this.#again([...this.#kept.values()]);
  }

  /** No timer is left, and none is set any more. */
  close(): void {
    this.#isClosed = true;
    this.#retrying.clock.clearTimeout(this.#timer);
  }

  /** Takes note of what could not be written, each with the reason, or not within its time. */
  keep(failed: ReadonlyMap<FactChange, unknown>): void {
    if (failed.size === 0) return;
    for (const change of failed.keys()) {
      const { version = 0 } = this.#kept.get(idOf(change)) ?? {};
      if (version <= change.version) this.#kept.set(idOf(change), { ...change, waiting: [] });
    }
    const at = this.#retrying.clock.now();
    const failure: Failure = { reason: 'StoreFailed', message: messageOf([...failed.values()].at(-1)), at };
    const { since = at, retryAt = at + RETRY_MS } = this.#failure ?? {};
    this.#tell({ facts: this.#kept.size, failure, since, retryAt });
    if (!this.#isClosed) this.#timer ??= this.#retrying.clock.setTimeout(() => this.#retry(), RETRY_MS);
  }

  /** Takes note of what is durable now. */
  release(durable: readonly FactChange[]): void {
    for (const change of durable) {
      const { version = Number.POSITIVE_INFINITY } = this.#kept.get(idOf(change)) ?? {};
      if (version <= change.version) this.#kept.delete(idOf(change));
      this.#releases.get(idOf(change))?.resolve();
      this.#releases.delete(idOf(change));
    }
    if (this.#kept.size === 0) {
      this.#retrying.clock.clearTimeout(this.#timer);
      this.#timer = undefined;
    }
    const facts = this.#kept.size;
    this.#tell(facts > 0 && this.#failure ? { ...this.#failure, facts } : undefined);
  }

  #retry(): void {
    const { clock } = this.#retrying;
    this.#timer = clock.setTimeout(() => this.#retry(), RETRY_MS);
    if (this.#failure) this.#failure = { ...this.#failure, retryAt: clock.now() + RETRY_MS };
    this.tryAgain();
  }

  #tell(failure: StoreFailure | undefined): void {
    const isNews = (this.#failure === undefined) !== (failure === undefined);
    this.#failure = failure;
    if (isNews) this.#retrying.onFailure?.(failure);
  }
}
