/** Computes CPU rates from the difference of the counters of two samples. */

interface CpuCounter {
  /** CPU time in nanoseconds. */
  readonly usedNs: number;
  /** Monotonic time in milliseconds. */
  readonly at: number;
}

/** Maximum interval between two samples. A rate over a longer time is outdated. */
const MAX_INTERVAL_MS = 120_000;
/** Minimum interval between two samples. A rate over a shorter time is too noisy. */
const MIN_INTERVAL_MS = 400;
/**
 * Maximum time between creation and start of a container. If a cgroup was created earlier than this before the previous
 * sample, that sample probably missed the cgroup, and its rate is unknown.
 */
const MAX_START_DELAY_MS = 10_000;
const NS_IN_MS = 1_000_000;
const NS_IN_S = 1_000_000_000;

/** The counters of the previous sample and the current one. */
export class Rates {
  #previousCounters: ReadonlyMap<string, CpuCounter> | undefined;
  #previousStart = 0;
  #currentCounters = new Map<string, CpuCounter>();
  #currentStart = Number.NEGATIVE_INFINITY;

  /** Starts a sample. Returns whether rates are available, i.e. whether there is a previous sample to compare with. */
  startSample(at: number): boolean {
    // Compare a sample that follows closely with the same previous sample, because a throttled cgroup can be idle for
    // the whole interval.
    if (at - this.#currentStart >= MIN_INTERVAL_MS) {
      this.#previousCounters = at - this.#currentStart < MAX_INTERVAL_MS ? this.#currentCounters : undefined;
      this.#previousStart = this.#currentStart;
      this.#currentStart = at;
    }
    this.#currentCounters = new Map();
    return this.#previousCounters !== undefined;
  }

  /**
   * Stores a counter and returns its rate, in billionths of a core. The counter of a new key started at 0 when the
   * cgroup was created, `createdAgoMs` milliseconds ago if that is defined.
   */
  rateOf(key: string, { usedNs, at }: CpuCounter, createdAgoMs?: number): number | undefined {
    this.#currentCounters.set(key, { usedNs, at });
    if (this.#previousCounters === undefined) return undefined;
    const previousCounter = this.#previousCounters.get(key) ?? this.#counterAtCreation(at, createdAgoMs);
    const elapsedMs = previousCounter === undefined ? 0 : at - previousCounter.at;
    if (previousCounter === undefined || elapsedMs <= 0 || usedNs < previousCounter.usedNs) return undefined;
    return Math.trunc(((usedNs - previousCounter.usedNs) / (elapsedMs * NS_IN_MS)) * NS_IN_S);
  }

  /**
   * Returns the counter at creation. A container can be created shortly before the previous sample and start after it.
   */
  #counterAtCreation(at: number, agoMs: number | undefined): CpuCounter | undefined {
    if (agoMs === undefined || at - agoMs < this.#previousStart - MAX_START_DELAY_MS) return undefined;
    return { usedNs: 0, at: Math.max(at - agoMs, this.#previousStart) };
  }
}
