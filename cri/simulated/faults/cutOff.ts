import type { RuntimeContext } from '../runtimeContext.ts';

/**
 * Points in the duration of a real containerd's calls, as fractions, from which on an interrupted call leaves objects
 * behind.
 */
export const CALL_STAGES = {
  /** The sandbox is recorded. From here on, an interrupted call leaves it in the not ready state. */
  sandboxKnown: 0.2,
  /** The address of the sandbox is recorded, too. */
  sandboxAttached: 0.7,
  /** The container's process is running. */
  containerStarted: 0.8,
} as const;

/** A call in progress. */
export interface Work {
  readonly ms: number;
  /** Returns the fraction of the duration that has passed. */
  readonly progress: () => number;
}

/** Starts work that takes `ms` milliseconds. */
export function startWork({ clock }: RuntimeContext, ms: number): Work {
  const startedAt = clock.now();
  return { ms, progress: () => (ms > 0 ? (clock.now() - startedAt) / ms : 0) };
}
