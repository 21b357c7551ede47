/** Detects a node that never comes to rest, which would stop the clock forever or exhaust the memory. */

/**
 * Maximum activity per pod at one point in time and within one minute. The limits are ten times the maximum of any
 * story.
 */
const LIMIT_PER_INSTANT = 500;
const LIMIT_PER_MINUTE = 7_000;
const MINUTE_MS = 60_000;
/** Number of pods to whose activity a node without pods is entitled. */
const BASE_PODS = 10;
/** Maximum number of kinds of activity that a message names. */
const NAMED_KINDS = 3;

interface Span {
  readonly name: string;
  /** Maximum count per pod. */
  readonly limit: number;
  /** Returns the number of the span that contains a time. */
  readonly at: (elapsed: number) => number;
}

const SPANS: readonly Span[] = [
  { name: 'at one point in time', limit: LIMIT_PER_INSTANT, at: (elapsed) => elapsed },
  { name: 'within a minute', limit: LIMIT_PER_MINUTE, at: (elapsed) => Math.floor(elapsed / MINUTE_MS) },
];

/** Counts the activity in the current span. */
class ActivityCount {
  readonly span: Span;
  #at = Number.NaN;
  #count = 0;
  /** Counts by kind, once the total is more than half of the limit. */
  readonly #kinds = new Map<string, number>();

  constructor(span: Span) {
    this.span = span;
  }

  /** Counts one activity. Returns whether the total is within the limit. */
  note(what: () => string, elapsed: number, pods: number): boolean {
    const at = this.span.at(elapsed);
    if (at !== this.#at) this.#reset(at);
    this.#count += 1;
    const maxCount = this.span.limit * (BASE_PODS + pods);
    if (this.#count > maxCount / 2) this.#noteKind(what());
    return this.#count <= maxCount;
  }

  /** Returns the total and the most frequent kinds. */
  toString(): string {
    const mostFrequent = [...this.#kinds].sort(([, one], [, other]) => other - one).slice(0, NAMED_KINDS);
    const kinds = mostFrequent.map(([what, count]) => `${what} (${count} times)`);
    return `${this.#count} calls, steps and timers ${this.span.name}, mostly ${kinds.join(', ')}`;
  }

  #noteKind(kind: string): void {
    this.#kinds.set(kind, (this.#kinds.get(kind) ?? 0) + 1);
  }

  #reset(at: number): void {
    this.#at = at;
    this.#count = 0;
    this.#kinds.clear();
  }
}

interface Watched {
  readonly elapsed: number;
  readonly actionLog: { readonly wanted: { readonly size: number } };
}

export class ActivityLimit {
  readonly #watched: Watched;
  readonly #violated: (message: string) => void;
  readonly #counts = SPANS.map((span) => new ActivityCount(span));
  /** Maximum number of wanted pods so far, because pods that are no longer wanted may take long to terminate. */
  #maxPods = 0;

  constructor(watched: Watched, violated: (message: string) => void) {
    this.#watched = watched;
    this.#violated = violated;
  }

  /** Records an activity. Returns false if the limit is exceeded, in which case the caller must stop. */
  note(what: () => string): boolean {
    const { elapsed, actionLog } = this.#watched;
    this.#maxPods = Math.max(this.#maxPods, actionLog.wanted.size);
    const exceeded = this.#counts.filter((count) => !count.note(what, elapsed, this.#maxPods));
    for (const count of exceeded) this.#violated(`the node does not come to rest: ${count}`);
    return exceeded.length === 0;
  }
}
