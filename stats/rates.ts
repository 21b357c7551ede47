/** Computes CPU rates from the counters of two samples. */

interface CpuCounter {
  /** CPU time in nanoseconds. */
  readonly usedNs: number;
  /** Monotonic time in milliseconds. */
  readonly at: number;
}

/** Maximum interval between two samples, in milliseconds. A rate over a longer interval would be outdated. */
const MAX_INTERVAL_MS = 120_000;
/** Minimum interval between two samples, in milliseconds. A rate over a shorter interval would be too noisy. */
const MIN_INTERVAL_MS = 400;
/**
 * Maximum time between the creation and the start of a container, in milliseconds. A cgroup that was already older than
 * this at the previous sample but is missing from that sample must have been overlooked, so its rate is unknown.
 */
const MAX_START_DELAY_MS = 10_000;
const NS_IN_MS = 1_000_000;
const NS_IN_S = 1_000_000_000;

/** The CPU counters of the previous sample and of the current one. */
export class Rates {
  #previousCounters: ReadonlyMap<string, CpuCounter> | undefined;
  #previousStart = 0;
  #currentCounters = new Map<string, CpuCounter>();
  #currentStart = Number.NEGATIVE_INFINITY;

  /** Starts a sample. Returns whether rates are available, i.e. whether there is a previous sample to compare with. */
  startSample(at: number): boolean {
    // If this sample started too soon after the last one, keep comparing with the older sample, because a throttled
    // cgroup can be idle during a short interval.
    if (at - this.#currentStart >= MIN_INTERVAL_MS) {
      this.#previousCounters = at - this.#currentStart < MAX_INTERVAL_MS ? this.#currentCounters : undefined;
      this.#previousStart = this.#currentStart;
      this.#currentStart = at;
    }
    this.#currentCounters = new Map();
    return this.#previousCounters !== undefined;
  }

  /**
   * Stores a counter and returns its rate in nanocores. For a new key, computes the rate since the creation of the
   * cgroup, which was `createdAgoMs` milliseconds ago. Returns undefined if the rate is unknown.
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
   * Returns a counter with value 0 at the creation of the cgroup. If the cgroup was created before the previous sample,
   * uses the start of that sample instead, because a container can be created shortly before a sample and start after
   * it. Returns undefined if the creation time is unknown or too early.
   */
  #counterAtCreation(at: number, agoMs: number | undefined): CpuCounter | undefined {
    if (agoMs === undefined || at - agoMs < this.#previousStart - MAX_START_DELAY_MS) return undefined;
    return { usedNs: 0, at: Math.max(at - agoMs, this.#previousStart) };
  }
}
