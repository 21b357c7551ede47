/** What is known of how one actor came to be where it is: the ways that it took, and the runs of its container. */
import type { InspectionEvent } from 'xstate';
import type { Move } from '../actors/status/since.ts';
import type { PodStatus } from '../pod/api/schema/status.ts';
import type { ActorView } from '../pod/show/actorNode.ts';
import { containerIn } from '../pod/show/actorPath.ts';
import type { Detail } from './protocol.ts';
import { Runs } from './runs.ts';
import { uidIn } from './shown.ts';
import { TakenWays } from './takenWays.ts';

/** What a detail has of it. */
export type ToldPast = Pick<Detail, 'taken' | 'tried'>;

/** Learns from what goes on, live or replayed. */
export class ActorPast {
  readonly #uid: string;
  readonly #taken: TakenWays;
  readonly #runs: Runs;

  /** `from` is the first moment of which it learns. */
  constructor(path: string, from: number) {
    this.#uid = uidIn(path);
    this.#taken = new TakenWays(path, from);
    this.#runs = new Runs(containerIn(path));
  }

  /** The state that it is in. */
  begin({ state, since }: Pick<ActorView, 'state' | 'since'>): void {
    this.#taken.begin(state, since);
  }

  inspect(event: InspectionEvent, at: number): void {
    this.#taken.inspect(event, at);
  }

  move(move: Move): void {
    this.#taken.move(move);
  }

  status(uid: string, status: PodStatus | undefined): void {
    if (uid === this.#uid) this.#runs.learn(status);
  }

  /** What is known of the time before. */
  addEarlier({ taken, tried }: ToldPast): void {
    this.#taken.addEarlier(taken);
    this.#runs.addEarlier(tried);
  }

  told(): ToldPast {
    return { taken: this.#taken.taken(), tried: this.#runs.tried() };
  }
}
