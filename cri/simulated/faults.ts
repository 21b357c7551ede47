import type { CodeName } from './callError.ts';
import type { CallName, RequestOf } from './callNames.ts';

/** What goes wrong with a call, `*` for any. What is told of several kinds happens in the order of the fields. */
export interface Fault<K extends CallName | '*'> {
  readonly call: K;
  /** How many matching calls it strikes; 1 when absent, `Infinity` for all. */
  readonly times?: number;
  /** Which calls it strikes; all of them when absent. */
  readonly match?: (request: K extends CallName ? RequestOf<K> : unknown) => boolean;
  /** Milliseconds before anything is done. */
  readonly delayMs?: number;
  /** Nothing is done until the fault is released, or the caller gives up. */
  readonly hang?: boolean;
  /** Fails without doing anything. */
  readonly error?: { readonly code?: CodeName; readonly message: string };
  /** The runtime goes away before or after it has done what was asked. */
  readonly crash?: 'before' | 'after';
  /** It is done, and the answer comes that many milliseconds later. */
  readonly lateReplyMs?: number;
  /** It is done, but fails with this error; what it has made is taken back as far as a real runtime does it. */
  readonly failsAfter?: { readonly code?: CodeName; readonly message: string };
  /** It is done, but the caller gets an error, or no answer at all. */
  readonly lostReply?: 'error' | 'timeout';
}

/** A fault that was added. */
export interface AddedFault {
  /** How often it has struck. */
  readonly hits: () => number;
  /** Ends it: no further call is struck, and those that hang go on. */
  readonly release: () => void;
}

/** A fault as a call meets it. */
export interface Strike {
  readonly fault: Omit<Fault<'*'>, 'call' | 'match' | 'times'>;
  /** Resolves when the fault is released. */
  readonly released: Promise<void>;
}

interface Entry {
  readonly call: CallName | '*';
  readonly take: (request: unknown) => Strike | undefined;
}

/** The scripted faults; of several that match a call the first added strikes. */
export class Faults {
  #entries: readonly Entry[] = [];

  add<K extends CallName | '*'>(fault: Fault<K>): AddedFault {
    const { times = 1, match } = fault;
    // A fault is only asked about requests of its own call.
    const matches = match as ((request: unknown) => boolean) | undefined;
    const { promise: released, resolve } = Promise.withResolvers<void>();
    let hits = 0;
    const take = (request: unknown) => {
      if (hits >= times || matches?.(request) === false) return undefined;
      hits++;
      if (hits === times) this.#entries = this.#entries.filter((other) => other !== entry);
      return { fault, released };
    };
    const entry = { call: fault.call, take };
    this.#entries = [...this.#entries, entry];
    const release = () => {
      this.#entries = this.#entries.filter((other) => other !== entry);
      resolve();
    };
    return { hits: () => hits, release };
  }

  /** The fault that strikes this call, if any. */
  take(call: CallName, request: unknown): Strike | undefined {
    for (const entry of this.#entries) {
      const strike = entry.call === call || entry.call === '*' ? entry.take(request) : undefined;
      if (strike) return strike;
    }
    return undefined;
  }
}
