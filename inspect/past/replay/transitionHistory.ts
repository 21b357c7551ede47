/** Collects the transitions that one actor has taken and its time in each state. */
import type { AnyTransitionDefinition, InspectionEvent } from 'xstate';
import type { StateChange } from '../../../actors/status/sinceMap.ts';
import { transitionIds } from '../../../machines/drawing/ways.ts';
import { actorPath } from '../../../machines/shared/views/actorRefs.ts';
import { podUidOf } from '../../../show/actors/actorPath.ts';
import type { TakenTransitions } from '../../protocol.ts';

/** Collects transitions from XState's inspection events, and durations from the node's state changes. */
export class TransitionHistory {
  readonly #path: string;
  /**
   * Path of the actor's pod, or of the actor itself if it belongs to the node. A new actor at this path resets the
   * history.
   */
  readonly #podPath: string;
  #from: number;
  readonly #countsByTransition = new Map<string, { count: number; lastAt: number }>();
  readonly #stayDurations = new Map<string, number>();
  #state: { readonly state: string; readonly at: number } | undefined;

  /** `from` is the time at which the collection starts. */
  constructor(path: string, from: number) {
    this.#path = path;
    const uid = podUidOf(path);
    this.#podPath = uid === undefined ? path : `pod/${uid}`;
    this.#from = from;
  }

  inspect(event: InspectionEvent, at: number): void {
    if (event.type === '@xstate.actor' && isActorAt(event, this.#podPath)) this.#reset(at);
    if (event.type !== '@xstate.microstep' || !isActorAt(event, this.#path)) return;
    // Read the transitions of this step from a field that XState's types omit.
    const { _transitions: taken = [] } = event as { _transitions?: AnyTransitionDefinition[] };
    for (const way of transitionIds(taken)) this.countTransitions(way, 1, at);
  }

  /** Sets the actor's state at the start of the collection. */
  setInitialState(state: string, since: number): void {
    this.#state = { state, at: since };
  }

  move({ actor, state, at }: StateChange): void {
    if (actor !== this.#path) return;
    const previousState = this.#state;
    if (previousState) this.#stayDurations.set(previousState.state, at - previousState.at);
    this.#state = { state, at };
  }

  /** Adds the history from before `from`. */
  addEarlier({ from, ways, stays }: TakenTransitions): void {
    this.#from = Math.min(this.#from, from);
    for (const { way, count, lastAt } of ways) this.countTransitions(way, count, lastAt);
    for (const { state, lastMs } of stays) if (!this.#stayDurations.has(state)) this.#stayDurations.set(state, lastMs);
  }

  taken(): TakenTransitions {
    return {
      from: this.#from,
      ways: [...this.#countsByTransition].map(([way, counted]) => ({ way, ...counted })),
      stays: [...this.#stayDurations].map(([state, lastMs]) => ({ state, lastMs })),
    };
  }

  /** Resets the history, because the pod was created again. */
  #reset(at: number): void {
    if (this.#state !== undefined || this.#countsByTransition.size > 0) this.#from = at;
    this.#countsByTransition.clear();
    this.#stayDurations.clear();
    this.#state = undefined;
  }

  countTransitions(transitionId: string, times: number, at: number): void {
    const { count, lastAt } = this.#countsByTransition.get(transitionId) ?? { count: 0, lastAt: at };
    this.#countsByTransition.set(transitionId, { count: count + times, lastAt: Math.max(lastAt, at) });
  }
}

/**
 * Whether an event concerns the actor at `path`. The cast is safe, because every actor of the node was created by
 * XState.
 */
const isActorAt = ({ actorRef }: InspectionEvent, path: string): boolean =>
  actorPath(actorRef as Parameters<typeof actorPath>[0]).join('/') === path;
