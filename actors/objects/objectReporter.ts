/** Notifies the node of the state of the objects in use, and of the pods whose objects have changed. */

import type { Clock } from '../../base/clock.ts';
import type { ConfigKind, ConfigReference } from '../../kubernetes/objects/configObject.ts';
import { formatObjectName } from '../../kubernetes/shownName.ts';
import type { ObjectCounts } from '../../machines/node/objectCounts.ts';
import type { SourceState, SourceStep } from '../../machines/node/source.ts';
import type { NodeFact } from '../../machines/shared/events.ts';
import { stepReporter } from '../sources/sourceReporters.ts';
import type { TrackingStep } from './cache/trackedObject.ts';
import { countsOf, type Lacking } from './objectCounts.ts';

interface TrackedState {
  readonly reference: ConfigReference;
  readonly step: TrackingStep;
  readonly lacking: Lacking | undefined;
}

/** The reported state of a kind. */
interface KindState {
  readonly reportStep: (step: SourceStep) => void;
  counts: ObjectCounts | undefined;
  /** Time on the monotonic clock. */
  countedAt: number;
  timer: unknown;
}

/** Minimum interval between two notifications about the same pod or two counts of a kind. */
const NOTIFY_INTERVAL_MS = 1_000;

export class ObjectReporter {
  readonly #clock: Clock;
  /** Returns the state of all objects of a kind. */
  readonly #statesOf: (kind: ConfigKind) => readonly TrackedState[];
  readonly #strategy: ObjectCounts['strategy'];
  #send: ((fact: NodeFact) => void) | undefined;
  #signal: AbortSignal | undefined;
  readonly #kinds = new Map<ConfigKind, KindState>();
  /** Time of the last notification about each pod's objects, on the monotonic clock. */
  readonly #notifiedAt = new Map<string, number>();
  /** Pods with a pending notification. */
  readonly #due = new Set<string>();
  #timer: unknown;

  constructor(clock: Clock, all: (kind: ConfigKind) => readonly TrackedState[], strategy?: ObjectCounts['strategy']) {
    this.#clock = clock;
    this.#statesOf = all;
    this.#strategy = strategy;
  }

  start(send: (fact: NodeFact) => void, signal: AbortSignal): void {
    this.#send = send;
    this.#signal = signal;
    signal.addEventListener('abort', () => this.#clock.clearTimeout(this.#timer), { once: true });
  }

  /** Reports a step of one object of a kind. Counts are updated at most once a second. */
  reportStep(kind: ConfigKind): void {
    const [send, signal] = [this.#send, this.#signal];
    if (send === undefined || signal === undefined || signal.aborted) return;
    const kindState = this.#kinds.get(kind) ?? this.#startKind(kind, send, signal);
    const states = this.#statesOf(kind);
    const now = this.#clock.monotonic();
    const wait = kindState.countedAt + NOTIFY_INTERVAL_MS - now;
    if (wait <= 0) {
      kindState.counts = countsOf(states, this.#strategy);
      kindState.countedAt = now;
    } else {
      this.#clock.clearTimeout(kindState.timer);
      kindState.timer = this.#clock.setTimeout(() => this.reportStep(kind), wait);
    }
    kindState.reportStep({ ...worstStep(states), ...(kindState.counts ? { counts: kindState.counts } : {}) });
  }

  #startKind(kind: ConfigKind, send: (fact: NodeFact) => void, signal: AbortSignal): KindState {
    const reportStep = stepReporter(
      (state: SourceState) => send({ type: 'cluster.watchChanged', watch: kind, state }),
      {
        clock: this.#clock,
        signal,
        place: `the ${kind}s that its pods name`,
      },
    );
    const kindState = { reportStep, counts: undefined, countedAt: Number.NEGATIVE_INFINITY, timer: undefined };
    this.#kinds.set(kind, kindState);
    signal.addEventListener('abort', () => this.#clock.clearTimeout(this.#kinds.get(kind)?.timer), { once: true });
    return kindState;
  }

  /** Notifies the pods with these UIDs that an object has changed. */
  notifyPods(uids: Iterable<string>): void {
    for (const uid of uids) this.#due.add(uid);
    this.#clock.clearTimeout(this.#timer);
    this.#notifyDue();
  }

  /** Stops notifying this pod. */
  forget(uid: string): void {
    this.#due.delete(uid);
    this.#notifiedAt.delete(uid);
  }

  #notifyDue(): void {
    if (this.#send === undefined || this.#signal?.aborted) return;
    const now = this.#clock.monotonic();
    const waitOf = (uid: string) => (this.#notifiedAt.get(uid) ?? Number.NEGATIVE_INFINITY) + NOTIFY_INTERVAL_MS - now;
    const uids = [...this.#due].filter((uid) => waitOf(uid) <= 0);
    for (const uid of uids) {
      this.#due.delete(uid);
      this.#notifiedAt.set(uid, now);
    }
    if (uids.length > 0) this.#send({ type: 'cluster.objectsChanged', uids });
    if (this.#due.size === 0) return;
    const wait = Math.min(...[...this.#due].map(waitOf));
    this.#timer = this.#clock.setTimeout(() => this.#notifyDue(), wait);
  }
}

/**
 * Returns the step of the object that has been failing for the longest time. If none is failing, returns `reading` or
 * `watching`.
 */
function worstStep(states: readonly TrackedState[]): SourceStep {
  let worst: { readonly tracked: TrackedState; readonly step: Extract<TrackingStep, { state: 'failing' }> } | undefined;
  for (const tracked of states) {
    const { step, lacking } = tracked;
    if (step.state !== 'failing') continue;
    if (worst === undefined || (lacking?.since ?? 0) < (worst.tracked.lacking?.since ?? 0)) worst = { tracked, step };
  }
  if (worst === undefined)
    return { state: states.some(({ step }) => step.state === 'reading') ? 'reading' : 'watching' };
  const { failure, until } = worst.step;
  return {
    state: 'failing',
    failure: `${formatObjectName(worst.tracked.reference)}: ${failure}`,
    ...(until === undefined ? {} : { until }),
  };
}
