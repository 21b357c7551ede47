/** Detects a node that never comes to rest, which would stop the clock forever or exhaust the memory. */

/** Limits per pod for one point in time and for one minute. They are ten times what any story has reached. */
const LIMIT_PER_INSTANT = 500;
const LIMIT_PER_MINUTE = 7_000;
const MINUTE_MS = 60_000;
/** The activity of a node without pods, in pods. */
const BASE_PODS = 10;
/** The number of kinds that a message names. */
const NAMED_KINDS = 3;

interface Span {
  readonly name: string;
  /** Maximum count per pod. */
  readonly limit: number;
  /** Returns the number of the span that contains a time. */
  readonly at: (elapsed: number) => number;
}

const SPANS: readonly Span[] = [
  { name: 'at one moment', limit: LIMIT_PER_INSTANT, at: (elapsed) => elapsed },
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

  /** Counts one activity and returns whether the total is within the limit. */
  note(what: () => string, elapsed: number, pods: number): boolean {
    const at = this.span.at(elapsed);
    if (at !== this.#at) this.#reset(at);
    this.#count += 1;
    const most = this.span.limit * (BASE_PODS + pods);
    if (this.#count > most / 2) this.#noteKind(what());
    return this.#count <= most;
  }

  /** The total and the most frequent kinds. */
  toString(): string {
    const often = [...this.#kinds].sort(([, one], [, other]) => other - one).slice(0, NAMED_KINDS);
    const kinds = often.map(([what, count]) => `${what} (${count} times)`);
    return `${this.#count} calls, steps and timers ${this.span.name}, of late ${kinds.join(', ')}`;
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
  /** Pods that are no longer wanted may take long to terminate, so the maximum counts. */
  #maxPods = 0;

  constructor(watched: Watched, violated: (message: string) => void) {
    this.#watched = watched;
    this.#violated = violated;
  }

  /** Records an activity. Returns false if the limit is exceeded, in which case the caller must stop. */
  note(what: () => string): boolean {
    const { elapsed, actionLog } = this.#watched;
    this.#maxPods = Math.max(this.#maxPods, actionLog.wanted.size);
    const over = this.#counts.filter((count) => !count.note(what, elapsed, this.#maxPods));
    for (const count of over) this.#violated(`the node does not come to rest: ${count}`);
    return over.length === 0;
  }
}
