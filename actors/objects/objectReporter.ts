/** Notifies the node of the state of the objects that its pods use, and of the pods whose objects have changed. */

import type { Clock } from '../../base/time/clock.ts';
import type { ConfigKind, ConfigReference } from '../../kubernetes/objects/configObject.ts';
import { formatObjectName } from '../../kubernetes/shownName.ts';
import type { ObjectCounts } from '../../machines/node/cluster/objectCounts.ts';
import type { SourceChange, SourceState } from '../../machines/node/pods/source.ts';
import type { NodeFact } from '../../machines/shared/events/events.ts';
import { createStepReporter } from '../sources/sourceReporters.ts';
import type { TrackingStep } from './cache/trackedObject.ts';
import { countObjects, type MissingObject } from './objectCounts.ts';

interface TrackedState {
  readonly reference: ConfigReference;
  readonly step: TrackingStep;
  readonly missing: MissingObject | undefined;
}

/** The last reported state of all objects of one kind. */
interface KindState {
  readonly reportStep: (step: SourceChange) => void;
  counts: ObjectCounts | undefined;
  /** Monotonic time at which the objects were last counted. */
  lastCountAt: number;
  timer: unknown;
}

/**
 * Minimum interval between two notifications about the same pod, or between two counts of the objects of the same kind.
 */
const NOTIFY_INTERVAL_MS = 1_000;

export class ObjectReporter {
  readonly #clock: Clock;
  /** Returns the state of all objects of a kind. */
  readonly #listStates: (kind: ConfigKind) => readonly TrackedState[];
  readonly #strategy: ObjectCounts['strategy'];
  #sendFact: ((fact: NodeFact) => void) | undefined;
  #signal: AbortSignal | undefined;
  readonly #stateByKind = new Map<ConfigKind, KindState>();
  /** Monotonic time of the last notification about each pod's objects. */
  readonly #lastNotifiedAt = new Map<string, number>();
  /** Pods with a pending notification. */
  readonly #podsToNotify = new Set<string>();
  #timer: unknown;

  constructor(
    clock: Clock,
    listStates: (kind: ConfigKind) => readonly TrackedState[],
    strategy?: ObjectCounts['strategy'],
  ) {
    this.#clock = clock;
    this.#listStates = listStates;
    this.#strategy = strategy;
  }

  start(send: (fact: NodeFact) => void, signal: AbortSignal): void {
    this.#sendFact = send;
    this.#signal = signal;
    signal.addEventListener('abort', () => this.#clock.clearTimeout(this.#timer), { once: true });
  }

  /** Reports a state change of one object of a kind. Counts are updated at most once a second. */
  reportStep(kind: ConfigKind): void {
    const [send, signal] = [this.#sendFact, this.#signal];
    if (send === undefined || signal === undefined || signal.aborted) return;
    const kindState = this.#stateByKind.get(kind) ?? this.#startReportingKind(kind, send, signal);
    const objectStates = this.#listStates(kind);
    const now = this.#clock.monotonic();
    const remainingMs = kindState.lastCountAt + NOTIFY_INTERVAL_MS - now;
    if (remainingMs <= 0) {
      kindState.counts = countObjects(objectStates, this.#strategy);
      kindState.lastCountAt = now;
    } else {
      this.#clock.clearTimeout(kindState.timer);
      kindState.timer = this.#clock.setTimeout(() => this.reportStep(kind), remainingMs);
    }
    kindState.reportStep({ ...worstStep(objectStates), ...(kindState.counts ? { counts: kindState.counts } : {}) });
  }

  #startReportingKind(kind: ConfigKind, send: (fact: NodeFact) => void, signal: AbortSignal): KindState {
    const reportStep = createStepReporter(
      (state: SourceState) => send({ type: 'cluster.watchChanged', watch: kind, state }),
      {
        clock: this.#clock,
        signal,
        sourceName: `the ${kind}s that its pods name`,
      },
    );
    const kindState = { reportStep, counts: undefined, lastCountAt: Number.NEGATIVE_INFINITY, timer: undefined };
    this.#stateByKind.set(kind, kindState);
    signal.addEventListener('abort', () => this.#clock.clearTimeout(this.#stateByKind.get(kind)?.timer), {
      once: true,
    });
    return kindState;
  }

  /** Notifies the pods with these UIDs that an object has changed. */
  notifyPods(uids: Iterable<string>): void {
    for (const uid of uids) this.#podsToNotify.add(uid);
    this.#clock.clearTimeout(this.#timer);
    this.#notifyPods();
  }

  /** Stops notifying the node about the pod with this UID. */
  forget(uid: string): void {
    this.#podsToNotify.delete(uid);
    this.#lastNotifiedAt.delete(uid);
  }

  #notifyPods(): void {
    if (this.#sendFact === undefined || this.#signal?.aborted) return;
    const now = this.#clock.monotonic();
    const remainingMsOf = (uid: string) =>
      (this.#lastNotifiedAt.get(uid) ?? Number.NEGATIVE_INFINITY) + NOTIFY_INTERVAL_MS - now;
    const uids = [...this.#podsToNotify].filter((uid) => remainingMsOf(uid) <= 0);
    for (const uid of uids) {
      this.#podsToNotify.delete(uid);
      this.#lastNotifiedAt.set(uid, now);
    }
    if (uids.length > 0) this.#sendFact({ type: 'cluster.objectsChanged', uids });
    if (this.#podsToNotify.size === 0) return;
    const nextNotifyMs = Math.min(...[...this.#podsToNotify].map(remainingMsOf));
    this.#timer = this.#clock.setTimeout(() => this.#notifyPods(), nextNotifyMs);
  }
}

/**
 * Returns the state of the object that has been failing for the longest time. If none is failing, returns `reading` or
 * `watching`.
 */
function worstStep(states: readonly TrackedState[]): SourceChange {
  let worstState:
    | { readonly tracked: TrackedState; readonly step: Extract<TrackingStep, { state: 'failing' }> }
    | undefined;
  for (const tracked of states) {
    const { step, missing } = tracked;
    if (step.state !== 'failing') continue;
    if (worstState === undefined || (missing?.since ?? 0) < (worstState.tracked.missing?.since ?? 0))
      worstState = { tracked, step };
  }
  if (worstState === undefined)
    return { state: states.some(({ step }) => step.state === 'reading') ? 'reading' : 'watching' };
  const { failure, until } = worstState.step;
  return {
    state: 'failing',
    failure: `${formatObjectName(worstState.tracked.reference)}: ${failure}`,
    ...(until === undefined ? {} : { until }),
  };
}
