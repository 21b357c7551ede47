/** How the actors that somebody looks at came to be where they are: out of the recording once, and then as they go on. */
import type { InspectionEvent } from 'xstate';
import type { Clock } from '../base/clock.ts';
import type { AgentPort } from '../socket/agent.ts';
import { ActorPast, type ToldPast } from './actorPast.ts';
import type { Audience } from './audience.ts';
import { actorIn } from './detail.ts';
import type { Past } from './past.ts';
import { uidIn } from './shown.ts';

interface FollowedParts {
  readonly agent: Pick<AgentPort, 'subscribe' | 'trees' | 'explainNode'>;
  readonly audience: Audience;
  /** Absent where nothing is recorded. */
  readonly past: Pick<Past, 'actorPast'> | undefined;
  readonly clock: Pick<Clock, 'now' | 'setTimeout' | 'clearTimeout'>;
  /** Whether somebody looks on: whoever does may ask again at any time. */
  readonly isWatched: () => boolean;
}

interface Followed {
  readonly past: ActorPast;
  readonly isKnown: Promise<void>;
}

/** Those that were looked at last; of others it is read again. */
const MOST = 16;
/** Those who ask without looking on do not say when they go. */
const ALONE_MS = 30_000;

/** Follows until it is told that nobody looks any more, or nobody does and nobody asks. */
export class FollowedActors {
  readonly #parts: FollowedParts;
  readonly #followed = new Map<string, Followed>();
  #leave: (() => void) | undefined;
  #timer: unknown;

  constructor(parts: FollowedParts) {
    this.#parts = parts;
  }

  async of(path: string): Promise<ToldPast> {
    this.#waitForQuestions();
    const followed = this.#followed.get(path) ?? this.#follow(path);
    await followed.isKnown;
    return followed.past.told();
  }

  forget(): void {
    this.#parts.clock.clearTimeout(this.#timer);
    this.#leave?.();
    this.#leave = undefined;
    this.#followed.clear();
  }

  #waitForQuestions(): void {
    const { clock, isWatched } = this.#parts;
    clock.clearTimeout(this.#timer);
    this.#timer = clock.setTimeout(() => (isWatched() ? this.#waitForQuestions() : this.forget()), ALONE_MS);
  }

  #follow(path: string): Followed {
    const { agent, past: recorded, clock } = this.#parts;
    const from = clock.now();
    const past = new ActorPast(path, from);
    const actor = actorIn(agent.trees().get(uidIn(path)) ?? agent.explainNode().node, path);
    if (actor) past.begin(actor);
    // What cannot be read of before is not known: what comes is.
    const earlier = recorded?.actorPast(path, from).then((told) => past.addEarlier(told));
    const followed = { past, isKnown: earlier?.catch(() => {}) ?? Promise.resolve() };
    const [oldest] = this.#followed.keys();
    if (this.#followed.size >= MOST && oldest !== undefined) this.#followed.delete(oldest);
    this.#followed.set(path, followed);
    this.#leave ??= this.#watch();
    return followed;
  }

  #watch(): () => void {
    const { agent, audience, clock } = this.#parts;
    const each = (tell: (past: ActorPast) => void) => {
      for (const { past } of this.#followed.values()) tell(past);
    };
    const unsubscribe = agent.subscribe(({ uid, pod, removed }) => {
      each((past) => past.status(uid, removed ? undefined : pod.status));
    });
    const leave = audience.add({
      line: (line) => {
        if (line.kind === 'state') each((past) => past.move(line));
      },
      inspect: (event: InspectionEvent) => each((past) => past.inspect(event, clock.now())),
    });
    return () => {
      unsubscribe();
      leave();
    };
  }
}
