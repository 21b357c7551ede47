/** Notices a node that never comes to rest: it would hold the clock where it is for ever, or take all memory. */

/** So much may happen at one moment for each pod, and so much within a minute: ten times what any story has come to. */
const AT_A_MOMENT = 500;
const IN_A_MINUTE = 7_000;
const MINUTE_MS = 60_000;
/** What a node does without any pod, counted in pods. */
const OF_ITS_OWN = 10;
/** So many kinds of what has happened are told. */
const TOLD = 3;

interface Span {
  readonly name: string;
  /** How much may happen in it for each pod. */
  readonly most: number;
  /** Which of all of them a time is in. */
  readonly at: (elapsed: number) => number;
}

const SPANS: readonly Span[] = [
  { name: 'at one moment', most: AT_A_MOMENT, at: (elapsed) => elapsed },
  { name: 'within a minute', most: IN_A_MINUTE, at: (elapsed) => Math.floor(elapsed / MINUTE_MS) },
];

/** What has happened in the present one of such spans. */
class Count {
  readonly span: Span;
  #at = Number.NaN;
  #count = 0;
  /** How often each has happened, once there is much of it. */
  readonly #kinds = new Map<string, number>();

  constructor(span: Span) {
    this.span = span;
  }

  /** Whether there may be more of it. */
  note(what: () => string, elapsed: number, pods: number): boolean {
    const at = this.span.at(elapsed);
    if (at !== this.#at) this.#beginAt(at);
    this.#count += 1;
    const most = this.span.most * (OF_ITS_OWN + pods);
    if (this.#count > most / 2) this.#noteKind(what());
    return this.#count <= most;
  }

  /** What has happened, and what of it has happened most of late. */
  toString(): string {
    const often = [...this.#kinds].sort(([, one], [, other]) => other - one).slice(0, TOLD);
    const kinds = often.map(([what, count]) => `${what} (${count} times)`);
    return `${this.#count} calls, steps and timers ${this.span.name}, of late ${kinds.join(', ')}`;
  }

  #noteKind(kind: string): void {
    this.#kinds.set(kind, (this.#kinds.get(kind) ?? 0) + 1);
  }

  #beginAt(at: number): void {
    this.#at = at;
    this.#count = 0;
    this.#kinds.clear();
  }
}

/** Whose time it is, and the pods that are wanted there. */
interface Watched {
  readonly elapsed: number;
  readonly deeds: { readonly wanted: { readonly size: number } };
}

export class Unrest {
  readonly #watched: Watched;
  readonly #violated: (message: string) => void;
  readonly #counts = SPANS.map((span) => new Count(span));
  /** What is wanted no more may take long to end. */
  #mostPods = 0;

  constructor(watched: Watched, violated: (message: string) => void) {
    this.#watched = watched;
    this.#violated = violated;
  }

  /** Notes that something happens; false where it is too much, and nothing may follow from it any more. */
  note(what: () => string): boolean {
    const { elapsed, deeds } = this.#watched;
    this.#mostPods = Math.max(this.#mostPods, deeds.wanted.size);
    const over = this.#counts.filter((count) => !count.note(what, elapsed, this.#mostPods));
    for (const count of over) this.#violated(`the node does not come to rest: ${count}`);
    return over.length === 0;
  }
}
