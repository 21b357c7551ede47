/** A node in simulation as those see it who try their pods on it. */
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import type { NodeExplanation } from '../../show/explain/explainNode.ts';
import type { Explanation } from '../../show/explain.ts';
import type { Recording } from './run/recording.ts';
import type { Deed } from './stories/story.ts';

/** Add, change and remove pods; break things; let time pass; look at the node. */
export interface SimulatedNode {
  /** Puts the manifest of a static pod there, or another in its place; throws a `TypeError` where it is not valid. */
  apply(pod: object): void;
  /**
   * Takes the manifest of a pod away; `pod` is its name there, or its full name (`default/web-node-1`). Where there is none,
   * nothing happens, as with `kubectl delete --ignore-not-found`.
   */
  remove(pod: string): void;

  /** Does what a story can tell of: ends a container, stops the runtime, fills the disk, sets the clock. */
  perform(deed: Deed): void;
  /** Ends the agent as SIGKILL does, for good: pods run on until `startAgent`. */
  kill(): void;
  /** Starts an agent over what is there; nothing happens where one lives. */
  startAgent(): Promise<void>;
  /** From now on no call meets a fault; what hangs goes on, and what is down comes back. */
  endFaults(): void;

  /**
   * Lets so many milliseconds of node time pass, one timer after the other; throws an `InvariantViolated`. One call has
   * to end before the next.
   */
  advance(ms: number): Promise<void>;
  /**
   * Lets time pass until everything that the manifests want runs and nothing is left of what is gone, for at most about
   * `withinMs` milliseconds, and returns whether the node got there. Throws an `InvariantViolated` if an invariant breaks,
   * even if it did not.
   */
  settle(withinMs: number): Promise<boolean>;
  /** Milliseconds of node time since the beginning, whatever the wall clock shows. */
  readonly elapsed: number;
  /** How often something has entered the actors that changed one. */
  readonly steps: number;

  /** The pods as `get` shows them, as copies of one's own; none where no agent lives. */
  pods(): readonly Pod[];
  /** Why a pod is in its state, given its name in the manifest, its full name or its UID. */
  explain(pod: string): Explanation | undefined;
  /** Absent where no agent lives. */
  explainNode(): NodeExplanation | undefined;
  /** A copy of what entered the present agent, or the last one, for `createReplay`; the simulation has to have `records`. */
  recording(): Recording | undefined;
  /** Of all that has happened so far: the same for two runs of one seed. The simulation has to have `traces`. */
  digest(): string;
}
