/** The lives of a simulated node that have ended. */
import type { Life } from './life.ts';
import type { Recording } from './recording.ts';

export class PastLives {
  readonly #replays: boolean;
  readonly #onDifference: (difference: string) => void;
  /** Those whose actors still take what had come in when they ended. */
  readonly #unburied: Life[] = [];
  #recording: Recording | undefined;

  /** `replays`: what was recorded of each is played again; `onDifference` is told where that comes to something else. */
  constructor(replays: boolean, onDifference: (difference: string) => void) {
    this.#replays = replays;
    this.#onDifference = onDifference;
  }

  /** What was recorded of the last one. */
  get recording(): Recording | undefined {
    return this.#recording;
  }

  add(life: Life): void {
    this.#recording = life.recording;
    if (this.#replays) this.#unburied.push(life);
    else life.stop();
  }

  /**
   * Stops the actors of those that have ended in this turn, once everything has happened that was ready. An agent dies in
   * the midst of a step: only now has all that was recorded of it taken effect, and can be compared.
   */
  async bury(): Promise<void> {
    for (const life of this.#unburied.splice(0)) {
      await this.replay(life, life.recording);
      life.stop();
    }
  }

  /** Plays what was recorded of a life again. */
  async replay(life: Life | undefined, recording: Recording | undefined): Promise<void> {
    const difference = recording && (await life?.differenceOf(recording));
    if (difference !== undefined) this.#onDifference(difference);
  }
}
