/** What is known of how one actor came to be where it is: the ways that it took, and the runs of its container. */
import type { InspectionEvent } from 'xstate';
import type { Move } from '../actors/status/since.ts';
import type { PodStatus } from '../kubernetes/api/schema/status.ts';
import type { ActorView } from '../show/actorNode.ts';
import { containerNameOf } from '../show/actorPath.ts';
import type { ActorHistory } from './protocol.ts';
import { Runs } from './runs.ts';
import { uidIn } from './shown.ts';
import { TakenWays } from './takenWays.ts';

/** The part of an actor's history that depends on how it moved. */
export type ToldPast = Pick<ActorHistory, 'taken' | 'tried'>;

/** Learns from what goes on, live or replayed. */
export class ActorPast {
  readonly #uid: string;
  readonly #taken: TakenWays;
  #runs: Runs;
  readonly #container: string | undefined;
  /** Whether the pod's present life began while this has been learning, so that nothing earlier belongs to it. */
  #isWhole = false;
  #startTime: string | undefined;

  /** `from` is the first moment of which it learns. */
  constructor(path: string, from: number) {
    this.#uid = uidIn(path);
    this.#taken = new TakenWays(path, from);
    this.#container = containerNameOf(path);
    this.#runs = new Runs(this.#container);
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

  /** `status` is undefined when the pod is gone. A later start time belongs to the pod's next life under the same UID. */
  status(uid: string, status: PodStatus | undefined): void {
    if (uid !== this.#uid) return;
    const { startTime } = status ?? {};
    const isOther = startTime !== undefined && this.#startTime !== undefined && startTime !== this.#startTime;
    if (status === undefined || isOther) {
      this.#runs = new Runs(this.#container);
      this.#isWhole = true;
    }
    if (startTime !== undefined) this.#startTime = startTime;
    if (status) this.#runs.learn(status);
  }

  /** Adds the history before `from`, unless the pod's present life began later. */
  addEarlier({ taken, tried }: ToldPast): void {
    if (this.#isWhole) return;
    this.#taken.addEarlier(taken);
    this.#runs.addEarlier(tried);
  }

  told(): ToldPast {
    return { taken: this.#taken.taken(), tried: this.#runs.tried() };
  }
}
