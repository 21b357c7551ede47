/**
 * Tracks the histories of the actors that the page shows. The past of an actor is read from the recording once and then
 * extended with live events.
 */
import type { InspectionEvent } from 'xstate';
import type { Clock } from '../../base/time/clock.ts';
import type { AgentPort } from '../../socket/agent.ts';
import { findActor } from '../detail.ts';
import type { Past } from '../past/past.ts';
import { ActorPast, type CollectedHistory } from '../past/replay/actorPast.ts';
import { podUidOrEmpty } from '../shown.ts';
import type { Audience } from './audience.ts';

interface FollowedActorsOptions {
  readonly agent: Pick<AgentPort, 'subscribe' | 'trees' | 'explainNode'>;
  readonly audience: Audience;
  /** The recorded past of the node. Undefined if the agent makes no recording. */
  readonly recordedPast: Pick<Past, 'actorPast'> | undefined;
  readonly clock: Pick<Clock, 'now' | 'setTimeout' | 'clearTimeout'>;
  /** Whether there is a viewer, which may request a history at any time. */
  readonly isWatched: () => boolean;
}

interface FollowedActor {
  readonly actorPast: ActorPast;
  readonly isLoaded: Promise<void>;
}

/**
 * Maximum number of followed actors. The history of an actor that is no longer followed is read again on the next
 * request.
 */
const MAX_FOLLOWED_ACTORS = 16;
/**
 * Time without requests after which actors are no longer followed if there is no viewer. The timeout is the only sign
 * that a client without a stream has left.
 */
const IDLE_TIMEOUT_MS = 30_000;

/** Follows actors until `forget` is called, or until there are neither viewers nor requests. */
export class FollowedActors {
  readonly #options: FollowedActorsOptions;
  readonly #actorsByPath = new Map<string, FollowedActor>();
  #stopObserving: (() => void) | undefined;
  #timer: unknown;

  constructor(options: FollowedActorsOptions) {
    this.#options = options;
  }

  async historyOf(path: string): Promise<CollectedHistory> {
    this.#restartIdleTimer();
    const followedActor = this.#actorsByPath.get(path) ?? this.#follow(path);
    await followedActor.isLoaded;
    return followedActor.actorPast.history();
  }

  forget(): void {
    this.#options.clock.clearTimeout(this.#timer);
    this.#stopObserving?.();
    this.#stopObserving = undefined;
    this.#actorsByPath.clear();
  }

  #restartIdleTimer(): void {
    const { clock, isWatched } = this.#options;
    clock.clearTimeout(this.#timer);
    this.#timer = clock.setTimeout(() => (isWatched() ? this.#restartIdleTimer() : this.forget()), IDLE_TIMEOUT_MS);
  }

  #follow(path: string): FollowedActor {
    const { agent, recordedPast: recorded, clock } = this.#options;
    const from = clock.now();
    const actorPast = new ActorPast(path, from);
    const actor = findActor(agent.trees().get(podUidOrEmpty(path)) ?? agent.explainNode().node, path);
    if (actor) actorPast.setInitialState(actor);
    // Add the recorded history. If the recording cannot be read, the history starts at the current time.
    const earlierHistory = recorded
      ?.actorPast(path, from)
      .then((earlierHistory) => actorPast.addEarlier(earlierHistory));
    const followedActor = { actorPast, isLoaded: earlierHistory?.catch(() => {}) ?? Promise.resolve() };
    const [oldest] = this.#actorsByPath.keys();
    if (this.#actorsByPath.size >= MAX_FOLLOWED_ACTORS && oldest !== undefined) this.#actorsByPath.delete(oldest);
    this.#actorsByPath.set(path, followedActor);
    this.#stopObserving ??= this.#observe();
    return followedActor;
  }

  #observe(): () => void {
    const { agent, audience, clock } = this.#options;
    const updateAll = (update: (actorPast: ActorPast) => void) => {
      for (const { actorPast } of this.#actorsByPath.values()) update(actorPast);
    };
    const unsubscribe = agent.subscribe(({ uid, pod, removed }) => {
      updateAll((past) => past.addStatus(uid, removed ? undefined : pod.status));
    });
    const leaveAudience = audience.add({
      line: (line) => {
        if (line.kind === 'state') updateAll((past) => past.move(line));
      },
      inspect: (event: InspectionEvent) => updateAll((past) => past.inspect(event, clock.now())),
    });
    return () => {
      unsubscribe();
      leaveAudience();
    };
  }
}
