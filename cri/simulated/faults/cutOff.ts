import type { RuntimeContext } from '../runtimeContext.ts';

/**
 * Progress of a real containerd's calls, as fractions of their duration, at which an interrupted call leaves state
 * behind.
 */
export const CALL_STAGES = {
  /** The sandbox is recorded. It remains, not ready. */
  sandboxKnown: 0.2,
  /** The address of the sandbox is recorded too. */
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
