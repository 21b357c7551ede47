/**
 * Follows the history of the actors that the page shows. Their past is read from the recording once and then extended
 * by live events.
 */
import type { InspectionEvent } from 'xstate';
import type { Clock } from '../../base/clock.ts';
import type { AgentPort } from '../../socket/agent.ts';
import { findActor } from '../detail.ts';
import { ActorPast, type CollectedHistory } from '../past/actorPast.ts';
import type { Past } from '../past/past.ts';
import { uidIn } from '../shown.ts';
import type { Audience } from './audience.ts';

interface FollowedActorsOptions {
  readonly agent: Pick<AgentPort, 'subscribe' | 'trees' | 'explainNode'>;
  readonly audience: Audience;
  /** Undefined if the agent does not record. */
  readonly past: Pick<Past, 'actorPast'> | undefined;
  readonly clock: Pick<Clock, 'now' | 'setTimeout' | 'clearTimeout'>;
  /** Whether there is a viewer, which may request a history at any time. */
  readonly isWatched: () => boolean;
}

interface FollowedActor {
  readonly past: ActorPast;
  readonly isLoaded: Promise<void>;
}

/**
 * Maximum number of followed actors. The history of an actor that is no longer followed is read again on the next
 * request.
 */
const MAX_FOLLOWED = 16;
/**
 * Time without requests after which an actor is no longer followed if there is no viewer, because nothing signals that
 * a client without a stream has stopped sending requests.
 */
const IDLE_MS = 30_000;

/** Follows actors until `forget` is called, or until there are no viewers and no requests. */
export class FollowedActors {
  readonly #parts: FollowedActorsOptions;
  readonly #followed = new Map<string, FollowedActor>();
  #leave: (() => void) | undefined;
  #timer: unknown;

  constructor(parts: FollowedActorsOptions) {
    this.#parts = parts;
  }

  async historyOf(path: string): Promise<CollectedHistory> {
    this.#restartIdleTimer();
    const followed = this.#followed.get(path) ?? this.#follow(path);
    await followed.isLoaded;
    return followed.past.history();
  }

  forget(): void {
    this.#parts.clock.clearTimeout(this.#timer);
    this.#leave?.();
    this.#leave = undefined;
    this.#followed.clear();
  }

  #restartIdleTimer(): void {
    const { clock, isWatched } = this.#parts;
    clock.clearTimeout(this.#timer);
    this.#timer = clock.setTimeout(() => (isWatched() ? this.#restartIdleTimer() : this.forget()), IDLE_MS);
  }

  #follow(path: string): FollowedActor {
    const { agent, past: recorded, clock } = this.#parts;
    const from = clock.now();
    const past = new ActorPast(path, from);
    const actor = findActor(agent.trees().get(uidIn(path)) ?? agent.explainNode().node, path);
    if (actor) past.setInitialState(actor);
    // If the recording cannot be read, the history starts at the current time.
    const earlier = recorded?.actorPast(path, from).then((earlierHistory) => past.addEarlier(earlierHistory));
    const followed = { past, isLoaded: earlier?.catch(() => {}) ?? Promise.resolve() };
    const [oldest] = this.#followed.keys();
    if (this.#followed.size >= MAX_FOLLOWED && oldest !== undefined) this.#followed.delete(oldest);
    this.#followed.set(path, followed);
    this.#leave ??= this.#observe();
    return followed;
  }

  #observe(): () => void {
    const { agent, audience, clock } = this.#parts;
    const updateAll = (update: (past: ActorPast) => void) => {
      for (const { past } of this.#followed.values()) update(past);
    };
    const unsubscribe = agent.subscribe(({ uid, pod, removed }) => {
      updateAll((past) => past.addStatus(uid, removed ? undefined : pod.status));
    });
    const leave = audience.add({
      line: (line) => {
        if (line.kind === 'state') updateAll((past) => past.move(line));
      },
      inspect: (event: InspectionEvent) => updateAll((past) => past.inspect(event, clock.now())),
    });
    return () => {
      unsubscribe();
      leave();
    };
  }
}
