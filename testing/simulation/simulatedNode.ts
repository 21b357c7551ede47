/** A simulated node as the users of `statelet/testing` see it. */
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import type { NodeExplanation } from '../../show/explain/explainNode.ts';
import type { Explanation } from '../../show/explain.ts';
import type { Recording } from './run/recording.ts';
import type { Action } from './stories/story.ts';

/** Applies and removes manifests, performs actions, advances the clock, and inspects the node. */
export interface SimulatedNode {
  /**
   * Applies the manifest of a static pod, replacing any previous one of the same name. Throws a `TypeError` if it is
   * invalid.
   */
  apply(pod: object): void;
  /**
   * Removes the manifest of a pod, given the name in the manifest or the full name (`default/web-node-1`). Does nothing
   * if there is no such manifest, as with `kubectl delete --ignore-not-found`.
   */
  remove(pod: string): void;

  /** Performs any action of a story, e.g. stops a container or the runtime, fills the disk, or sets the clock. */
  perform(action: Action): void;
  /** Kills the agent as SIGKILL does. Its pods keep running, and no agent starts until `startAgent` is called. */
  kill(): void;
  /** Starts an agent on the current state of the host. Does nothing if one is running. */
  startAgent(): Promise<void>;
  /** Ends all faults. From now on no call fails, calls that hang continue, and everything that is down is up again. */
  endFaults(): void;

  /**
   * Advances the node's time by `ms` milliseconds, one timer after the other. Throws an `InvariantViolated`. Calls must
   * not overlap.
   */
  advance(ms: number): Promise<void>;
  /**
   * Advances the time until everything in the manifests runs and nothing of removed pods is left, for at most about
   * `withinMs` milliseconds, and returns whether the node settled. Throws an `InvariantViolated` if an invariant is
   * broken, also if the node did not settle.
   */
  settle(withinMs: number): Promise<boolean>;
  /** Milliseconds of node time since the start, which do not depend on the wall clock. */
  readonly elapsed: number;
  /** The number of inputs that changed the state of at least one actor. */
  readonly steps: number;

  /** Returns copies of the pods, as `get` shows them. Empty if no agent is running. */
  pods(): readonly Pod[];
  /** Explains the state of a pod, given the name in its manifest, its full name or its UID. */
  explain(pod: string): Explanation | undefined;
  /** Undefined if no agent is running. */
  explainNode(): NodeExplanation | undefined;
  /**
   * Returns a copy of the recording of the current agent, or the last one, for `createReplay`. Requires the option
   * `records`.
   */
  recording(): Recording | undefined;
  /**
   * Returns a digest of everything that has happened so far, which is the same for two runs with the same seed.
   * Requires the option `traces`.
   */
  digest(): string;
}
