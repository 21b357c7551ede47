import type { CodeName } from './callError.ts';
import type { CallName, RequestOf } from './callNames.ts';

/**
 * A fault that is injected into a call, or into any call (`*`). If several effects are set, they apply in the order of
 * the fields.
 */
export interface Fault<K extends CallName | '*'> {
  readonly call: K;
  /** Number of matching calls to affect. Defaults to 1. */
  readonly times?: number;
  /** Selects the affected calls. Defaults to all. */
  readonly match?: (request: K extends CallName ? RequestOf<K> : unknown) => boolean;
  /** Milliseconds to wait before the call is executed. */
  readonly delayMs?: number;
  /** Blocks the call until the fault is released or the caller cancels. */
  readonly hang?: boolean;
  /** Error that the call returns without being executed. */
  readonly error?: { readonly code?: CodeName; readonly message: string };
  /** Takes the runtime down before or after the call is executed. */
  readonly crash?: 'before' | 'after';
  /** Milliseconds by which the response is delayed after the call is executed. */
  readonly lateReplyMs?: number;
  /**
   * Error that the call returns after it is executed. The effects of the call are rolled back as far as a real runtime
   * would roll them back.
   */
  readonly failsAfter?: { readonly code?: CodeName; readonly message: string };
  /** Executes the call, but the caller gets an error or no response. */
  readonly lostReply?: 'error' | 'timeout';
}

export interface FaultHandle {
  /** Returns how many calls have been affected. */
  readonly countHits: () => number;
  /** Removes the fault and unblocks the calls that it blocks. */
  readonly release: () => void;
}

/** A fault that affects a call. */
export interface InjectedFault {
  readonly fault: Omit<Fault<'*'>, 'call' | 'match' | 'times'>;
  /** Resolves when the fault is released. */
  readonly releasePromise: Promise<void>;
}

interface FaultEntry {
  readonly call: CallName | '*';
  readonly matchRequest: (request: unknown) => InjectedFault | undefined;
}

/** Stores the injected faults. If several match a call, the one that was added first applies. */
export class Faults {
  #entries: readonly FaultEntry[] = [];

  add<K extends CallName | '*'>(fault: Fault<K>): FaultHandle {
    const { times = 1, match: predicate } = fault;
    // Safe cast, because a fault is only matched against requests of its own call.
    const matchesRequest = predicate as ((request: unknown) => boolean) | undefined;
    const { promise: releasePromise, resolve } = Promise.withResolvers<void>();
    let hitCount = 0;
    const matchRequest = (request: unknown) => {
      if (hitCount >= times || matchesRequest?.(request) === false) return undefined;
      hitCount++;
      if (hitCount === times) this.#entries = this.#entries.filter((candidate) => candidate !== entry);
      return { fault, releasePromise };
    };
    const entry = { call: fault.call, matchRequest };
    this.#entries = [...this.#entries, entry];
    const release = () => {
      this.#entries = this.#entries.filter((candidate) => candidate !== entry);
      resolve();
    };
    return { countHits: () => hitCount, release };
  }

  /** Returns the fault that affects a call, if any, and counts the hit. */
  match(call: CallName, request: unknown): InjectedFault | undefined {
    for (const entry of this.#entries) {
      const injectedFault = entry.call === call || entry.call === '*' ? entry.matchRequest(request) : undefined;
      if (injectedFault) return injectedFault;
    }
    return undefined;
  }
}
