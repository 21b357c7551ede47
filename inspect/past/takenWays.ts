/** Collects the transitions that one actor has taken and its time in each state. */
import type { AnyTransitionDefinition, InspectionEvent } from 'xstate';
import type { StateChange } from '../../actors/status/sinceMap.ts';
import { wayIdsOf } from '../../machines/drawing/ways.ts';
import { pathOf } from '../../machines/shared/actorRefs.ts';
import { podUidOf } from '../../show/actors/actorPath.ts';
import type { Taken } from '../protocol.ts';

/** Collects transitions from XState's inspection events, and times from the node's moves. */
export class TransitionHistory {
  readonly #path: string;
  /**
   * Path of the actor's pod, or the actor's own path if it belongs to the node. A new actor at this path starts a new
   * life.
   */
  readonly #pod: string;
  #from: number;
  readonly #ways = new Map<string, { count: number; lastAt: number }>();
  readonly #stays = new Map<string, number>();
  #state: { readonly state: string; readonly at: number } | undefined;

  /** `from` is the time at which the collection starts. */
  constructor(path: string, from: number) {
    this.#path = path;
    const uid = podUidOf(path);
    this.#pod = uid === undefined ? path : `pod/${uid}`;
    this.#from = from;
  }

  inspect(event: InspectionEvent, at: number): void {
    if (event.type === '@xstate.actor' && isActorAt(event, this.#pod)) this.#reset(at);
    if (event.type !== '@xstate.microstep' || !isActorAt(event, this.#path)) return;
    // XState's event contains the transitions of this step, but its types omit them.
    const { _transitions: taken = [] } = event as { _transitions?: AnyTransitionDefinition[] };
    for (const way of wayIdsOf(taken)) this.#count(way, 1, at);
  }

  /** Sets the current state. */
  setInitialState(state: string, since: number): void {
    this.#state = { state, at: since };
  }

  move({ actor, state, at }: StateChange): void {
    if (actor !== this.#path) return;
    const before = this.#state;
    if (before) this.#stays.set(before.state, at - before.at);
    this.#state = { state, at };
  }

  /** Adds the history before `from`. */
  addEarlier({ from, ways, stays }: Taken): void {
    this.#from = Math.min(this.#from, from);
    for (const { way, count, lastAt } of ways) this.#count(way, count, lastAt);
    for (const { state, lastMs } of stays) if (!this.#stays.has(state)) this.#stays.set(state, lastMs);
  }

  taken(): Taken {
    return {
      from: this.#from,
      ways: [...this.#ways].map(([way, counted]) => ({ way, ...counted })),
      stays: [...this.#stays].map(([state, lastMs]) => ({ state, lastMs })),
    };
  }

  /** Resets the history, because a new life of the pod starts. */
  #reset(at: number): void {
    if (this.#state !== undefined || this.#ways.size > 0) this.#from = at;
    this.#ways.clear();
    this.#stays.clear();
    this.#state = undefined;
  }

  #count(way: string, times: number, at: number): void {
    const { count, lastAt } = this.#ways.get(way) ?? { count: 0, lastAt: at };
    this.#ways.set(way, { count: count + times, lastAt: Math.max(lastAt, at) });
  }
}

/** Whether an event concerns the actor at `path`. Safe cast: every actor of the node was created by XState. */
const isActorAt = ({ actorRef }: InspectionEvent, path: string): boolean =>
  pathOf(actorRef as Parameters<typeof pathOf>[0]).join('/') === path;
