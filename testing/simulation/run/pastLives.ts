/** The agents of a simulated node that have died. */
import type { Life } from './life.ts';
import type { Recording } from './recording.ts';

export class PastLives {
  readonly #replays: boolean;
  readonly #onDifference: (difference: string) => void;
  /** Agents whose actors still process the events that they had received before they died. */
  readonly #unburied: Life[] = [];
  #recording: Recording | undefined;

  /** With `replays`, the recording of each agent is replayed, and `onDifference` is called with a difference. */
  constructor(replays: boolean, onDifference: (difference: string) => void) {
    this.#replays = replays;
    this.#onDifference = onDifference;
  }

  /** The recording of the last agent. */
  get recording(): Recording | undefined {
    return this.#recording;
  }

  add(life: Life): void {
    this.#recording = life.recording;
    if (this.#replays) this.#unburied.push(life);
    else life.stop();
  }

  /**
   * Stops the actors of the agents that have died in this turn. An agent dies in the middle of a step, so its recorded
   * entries have all taken effect only at the end of the turn and can be compared only then.
   */
  async bury(): Promise<void> {
    for (const life of this.#unburied.splice(0)) {
      await this.replay(life, life.recording);
      life.stop();
    }
  }

  /** Replays the recording of an agent. */
  async replay(life: Life | undefined, recording: Recording | undefined): Promise<void> {
    const difference = recording && (await life?.differenceOf(recording));
    if (difference !== undefined) this.#onDifference(difference);
  }
}
