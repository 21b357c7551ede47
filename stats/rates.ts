/** How much of a core is used: what the counters of processor time gained from one sample to the next. */

interface Counter {
  /** Nanoseconds of processor time. */
  readonly usedNs: number;
  /** Milliseconds of a clock that is never set. */
  readonly at: number;
}

/** A rate over more than this says nothing of now. */
const LONGEST_MS = 120_000;
/** A rate over less than this is a matter of chance. */
const SHORTEST_MS = 400;
/** What was made longer than this before a sample in which it was not has been passed over there. */
const LONGEST_START_MS = 10_000;
const NS_IN_MS = 1_000_000;
const NS = 1_000_000_000;

/** The counters of the sample before and of the one that is being taken: nothing else is kept, and nothing of what is gone. */
export class Rates {
  #before: ReadonlyMap<string, Counter> | undefined;
  #beganBefore = 0;
  #now = new Map<string, Counter>();
  #beganAt = Number.NEGATIVE_INFINITY;

  /** A sample begins; whether there was one to compare it with, so that this one tells rates. */
  begin(at: number): boolean {
    // What is throttled does nothing for a while: one that follows closely is compared with the same as the last.
    if (at - this.#beganAt >= SHORTEST_MS) {
      this.#before = at - this.#beganAt < LONGEST_MS ? this.#now : undefined;
      this.#beganBefore = this.#beganAt;
      this.#beganAt = at;
    }
    this.#now = new Map();
    return this.#before !== undefined;
  }

  /**
   * Takes a counter down and gives its rate, in billionths of a core. What was not there before was made since, at
   * `madeAgoMs` if that is known: then its counter was 0.
   */
  of(key: string, { usedNs, at }: Counter, madeAgoMs?: number): number | undefined {
    this.#now.set(key, { usedNs, at });
    if (this.#before === undefined) return undefined;
    const before = this.#before.get(key) ?? this.#made(at, madeAgoMs);
    const elapsedMs = before === undefined ? 0 : at - before.at;
    if (before === undefined || elapsedMs <= 0 || usedNs < before.usedNs) return undefined;
    return Math.trunc(((usedNs - before.usedNs) / (elapsedMs * NS_IN_MS)) * NS);
  }

  /** It may have been made shortly before that sample, and started after it. */
  #made(at: number, agoMs: number | undefined): Counter | undefined {
    if (agoMs === undefined || at - agoMs < this.#beganBefore - LONGEST_START_MS) return undefined;
    return { usedNs: 0, at: Math.max(at - agoMs, this.#beganBefore) };
  }
}
