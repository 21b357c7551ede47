/** The agents of a simulated node that have died. */
import type { AgentRun } from './agentRun.ts';
import type { Recording } from './recording.ts';

export class DeadAgents {
  readonly #replays: boolean;
  readonly #onDifference: (difference: string) => void;
  /** Agents whose actors still process the events that they had received before they died. */
  readonly #running: AgentRun[] = [];
  #recording: Recording | undefined;

  /**
   * If `replays` is true, the recording of each agent is replayed, and `onDifference` is called if the replay ends in a
   * different state.
   */
  constructor(replays: boolean, onDifference: (difference: string) => void) {
    this.#replays = replays;
    this.#onDifference = onDifference;
  }

  /** The recording of the last agent. */
  get recording(): Recording | undefined {
    return this.#recording;
  }

  add(run: AgentRun): void {
    this.#recording = run.recording;
    if (this.#replays) this.#running.push(run);
    else run.stopActors();
  }

  /**
   * Stops the actors of the agents that have died in this turn. An agent dies in the middle of a step, so its recorded
   * entries have all taken effect only at the end of the turn and can be compared only then.
   */
  async stopActors(): Promise<void> {
    for (const run of this.#running.splice(0)) {
      await this.replay(run, run.recording);
      run.stopActors();
    }
  }

  /** Replays the recording of an agent. */
  async replay(run: AgentRun | undefined, recording: Recording | undefined): Promise<void> {
    const difference = recording && (await run?.replayDifference(recording));
    if (difference !== undefined) this.#onDifference(difference);
  }
}
