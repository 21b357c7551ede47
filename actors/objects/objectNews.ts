/** Tells the node what becomes of the objects that its pods have in use: how they are followed, and which pods see a change. */

import type { Clock } from '../../base/clock.ts';
import type { ConfigKind, ConfigReference } from '../../kubernetes/objects/configObject.ts';
import { formatObjectName } from '../../kubernetes/shownName.ts';
import type { ObjectCounts } from '../../machines/node/objectCounts.ts';
import type { SourceState, SourceStep } from '../../machines/node/source.ts';
import type { NodeFact } from '../../machines/shared/events.ts';
import { tellingSteps } from '../sources/sourceNews.ts';
import type { HeldStep } from './cache/heldObject.ts';
import { countsOf, type Lacking } from './objectCounts.ts';

interface Told {
  readonly reference: ConfigReference;
  readonly step: HeldStep;
  readonly lacking: Lacking | undefined;
}

/** What was told of a kind. */
interface OfKind {
  readonly tell: (step: SourceStep) => void;
  counts: ObjectCounts | undefined;
  /** By the monotonic clock. */
  countedAt: number;
  timer: unknown;
}

/** What changes all the time is told no more often. */
const QUIET_MS = 1_000;

export class ObjectNews {
  readonly #clock: Clock;
  /** How all objects of a kind are doing. */
  readonly #all: (kind: ConfigKind) => readonly Told[];
  readonly #strategy: ObjectCounts['strategy'];
  #send: ((fact: NodeFact) => void) | undefined;
  #signal: AbortSignal | undefined;
  readonly #kinds = new Map<ConfigKind, OfKind>();
  /** When a change of each pod's objects was told last. */
  readonly #toldAt = new Map<string, number>();
  /** Pods to be told, once the time is there. */
  readonly #due = new Set<string>();
  #timer: unknown;

  constructor(clock: Clock, all: (kind: ConfigKind) => readonly Told[], strategy?: ObjectCounts['strategy']) {
    this.#clock = clock;
    this.#all = all;
    this.#strategy = strategy;
  }

  begin(send: (fact: NodeFact) => void, signal: AbortSignal): void {
    this.#send = send;
    this.#signal = signal;
    signal.addEventListener('abort', () => this.#clock.clearTimeout(this.#timer), { once: true });
  }

  /** Another step of one object of a kind. How many there are is told once a second at most. */
  stepped(kind: ConfigKind): void {
    const [send, signal] = [this.#send, this.#signal];
    if (send === undefined || signal === undefined || signal.aborted) return;
    const known = this.#kinds.get(kind) ?? this.#begun(kind, send, signal);
    const all = this.#all(kind);
    const now = this.#clock.monotonic();
    const wait = known.countedAt + QUIET_MS - now;
    if (wait <= 0) {
      known.counts = countsOf(all, this.#strategy);
      known.countedAt = now;
    } else {
      this.#clock.clearTimeout(known.timer);
      known.timer = this.#clock.setTimeout(() => this.stepped(kind), wait);
    }
    known.tell({ ...stepOfAll(all), ...(known.counts ? { counts: known.counts } : {}) });
  }

  #begun(kind: ConfigKind, send: (fact: NodeFact) => void, signal: AbortSignal): OfKind {
    const tell = tellingSteps((state: SourceState) => send({ type: 'cluster.watchChanged', watch: kind, state }), {
      clock: this.#clock,
      signal,
      place: `the ${kind}s that its pods name`,
    });
    const known = { tell, counts: undefined, countedAt: Number.NEGATIVE_INFINITY, timer: undefined };
    this.#kinds.set(kind, known);
    signal.addEventListener('abort', () => this.#clock.clearTimeout(this.#kinds.get(kind)?.timer), { once: true });
    return known;
  }

  /** An object is another now than these pods have seen. */
  changed(uids: Iterable<string>): void {
    for (const uid of uids) this.#due.add(uid);
    this.#clock.clearTimeout(this.#timer);
    this.#tell();
  }

  /** Nobody tells this pod anything any more. */
  forget(uid: string): void {
    this.#due.delete(uid);
    this.#toldAt.delete(uid);
  }

  #tell(): void {
    if (this.#send === undefined || this.#signal?.aborted) return;
    const now = this.#clock.monotonic();
    const waitOf = (uid: string) => (this.#toldAt.get(uid) ?? Number.NEGATIVE_INFINITY) + QUIET_MS - now;
    const uids = [...this.#due].filter((uid) => waitOf(uid) <= 0);
    for (const uid of uids) {
      this.#due.delete(uid);
      this.#toldAt.set(uid, now);
    }
    if (uids.length > 0) this.#send({ type: 'cluster.objectsChanged', uids });
    if (this.#due.size === 0) return;
    const wait = Math.min(...[...this.#due].map(waitOf));
    this.#timer = this.#clock.setTimeout(() => this.#tell(), wait);
  }
}

/** That of the one that is worst off: of those that fail, the one that has lacked for longest. */
function stepOfAll(all: readonly Told[]): SourceStep {
  let worst: { readonly told: Told; readonly step: Extract<HeldStep, { state: 'failing' }> } | undefined;
  for (const told of all) {
    const { step, lacking } = told;
    if (step.state !== 'failing') continue;
    if (worst === undefined || (lacking?.since ?? 0) < (worst.told.lacking?.since ?? 0)) worst = { told, step };
  }
  if (worst === undefined) return { state: all.some(({ step }) => step.state === 'reading') ? 'reading' : 'watching' };
  const { failure, until } = worst.step;
  return {
    state: 'failing',
    failure: `${formatObjectName(worst.told.reference)}: ${failure}`,
    ...(until === undefined ? {} : { until }),
  };
}
