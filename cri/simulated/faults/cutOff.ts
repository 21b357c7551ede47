import type { RuntimeContext } from '../runtimeContext.ts';

/**
 * Stages of a call, as fractions of its duration in a real containerd. A call that is interrupted after a stage leaves
 * the objects of that stage behind.
 */
export const CALL_STAGES = {
  /** The sandbox is recorded. From here on, an interrupted call leaves it in the not ready state. */
  sandboxRecorded: 0.2,
  /** The IP address of the sandbox is recorded as well. */
  networkAttached: 0.7,
  /** The container's process is running. */
  containerStarted: 0.8,
} as const;

/** A call in progress. */
export interface CallProgress {
  readonly ms: number;
  /** Returns the fraction of the call's duration that has passed. */
  readonly getProgress: () => number;
}

/** Starts work that takes `ms` milliseconds. */
export function startWork({ clock }: RuntimeContext, ms: number): CallProgress {
  const startedAt = clock.now();
  return { ms, getProgress: () => (ms > 0 ? (clock.now() - startedAt) / ms : 0) };
}
