/** How one actor has moved: the ways that it took, and how long it was in each state. */
import type { AnyTransitionDefinition, InspectionEvent } from 'xstate';
import type { Move } from '../actors/status/since.ts';
import { wayIdsOf } from '../machines/drawing/ways.ts';
import { pathOf } from '../machines/shared/actorRefs.ts';
import { podUidOf } from '../show/actorPath.ts';
import type { Taken } from './protocol.ts';

/** Learns from what xstate tells of all actors, and from the moves of the node. */
export class TakenWays {
  readonly #path: string;
  /** Path of its pod; of an actor of the node its own, which begins once. */
  readonly #pod: string;
  #from: number;
  readonly #ways = new Map<string, { count: number; lastAt: number }>();
  readonly #stays = new Map<string, number>();
  #state: { readonly state: string; readonly at: number } | undefined;

  /** `from` is when it begins to look. */
  constructor(path: string, from: number) {
    this.#path = path;
    const uid = podUidOf(path);
    this.#pod = uid === undefined ? path : `pod/${uid}`;
    this.#from = from;
  }

  /** `at` is when it happens. */
  inspect(event: InspectionEvent, at: number): void {
    if (event.type === '@xstate.actor' && isAt(event, this.#pod)) this.#forget(at);
    if (event.type !== '@xstate.microstep' || !isAt(event, this.#path)) return;
    // What xstate has taken in this step, where its types say less.
    const { _transitions: taken = [] } = event as { _transitions?: AnyTransitionDefinition[] };
    for (const way of wayIdsOf(taken)) this.#count(way, 1, at);
  }

  /** The state that it is in when it is looked at first. */
  begin(state: string, since: number): void {
    this.#state = { state, at: since };
  }

  move({ actor, state, at }: Move): void {
    if (actor !== this.#path) return;
    const before = this.#state;
    if (before) this.#stays.set(before.state, at - before.at);
    this.#state = { state, at };
  }

  /** What is known of the time before it began to look. */
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

  /** Another life of the pod begins, of which nothing has been taken yet. */
  #forget(at: number): void {
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

/** Every actor here is one of xstate's own. */
const isAt = ({ actorRef }: InspectionEvent, path: string): boolean =>
  pathOf(actorRef as Parameters<typeof pathOf>[0]).join('/') === path;
