/** Collects the history of one actor: its transitions, its time in each state, and the runs of its container. */
import type { InspectionEvent } from 'xstate';
import type { StateChange } from '../../../actors/status/sinceMap.ts';
import type { PodStatus } from '../../../kubernetes/api/schema/status.ts';
import type { ActorView } from '../../../show/actors/actorNode.ts';
import { containerNameOf } from '../../../show/actors/actorPath.ts';
import type { ActorHistory } from '../../protocol.ts';
import { podUidOrEmpty } from '../../shown.ts';
import { Runs } from './runs.ts';
import { TransitionHistory } from './transitionHistory.ts';

export type CollectedHistory = Pick<ActorHistory, 'taken' | 'tried'>;

/** Collects the history from live or replayed events. */
export class ActorPast {
  readonly #uid: string;
  readonly #transitions: TransitionHistory;
  #runs: Runs;
  readonly #container: string | undefined;
  /**
   * Whether the pod was removed during the collection. Earlier history then belongs to the removed pod, even if a new
   * pod has the same UID.
   */
  wasPodRemoved = false;
  #startTime: string | undefined;

  /** `from` is the time at which the collection starts. */
  constructor(path: string, from: number) {
    this.#uid = podUidOrEmpty(path);
    this.#transitions = new TransitionHistory(path, from);
    this.#container = containerNameOf(path);
    this.#runs = new Runs(this.#container);
  }

  /** Sets the actor's state at the start of the collection. */
  setInitialState({ state, since }: Pick<ActorView, 'state' | 'since'>): void {
    this.#transitions.setInitialState(state, since);
  }

  inspect(event: InspectionEvent, at: number): void {
    this.#transitions.inspect(event, at);
  }

  move(move: StateChange): void {
    this.#transitions.move(move);
  }

  /**
   * Adds a status of the pod, or undefined if the pod was removed. If the start time has changed, the pod was created
   * again with the same UID.
   */
  addStatus(uid: string, status: PodStatus | undefined): void {
    if (uid !== this.#uid) return;
    const { startTime } = status ?? {};
    const isNewPod = startTime !== undefined && this.#startTime !== undefined && startTime !== this.#startTime;
    if (status === undefined || isNewPod) {
      this.#runs = new Runs(this.#container);
      this.wasPodRemoved = true;
    }
    if (startTime !== undefined) this.#startTime = startTime;
    if (status) this.#runs.addStatus(status);
  }

  /** Adds the history from before `from`, unless the pod has been created again since then. */
  addEarlier({ taken, tried }: CollectedHistory): void {
    if (this.wasPodRemoved) return;
    this.#transitions.addEarlier(taken);
    this.#runs.addEarlier(tried);
  }

  history(): CollectedHistory {
    return { taken: this.#transitions.taken(), tried: this.#runs.completedRuns() };
  }
}
