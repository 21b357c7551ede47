import type { World } from './world.ts';

/** How far a real containerd is after which share of the time, and so what it finds of a call that its end cut off. */
export const STAGES = {
  /** The sandbox is written down: it stays, not ready. */
  sandboxKnown: 0.2,
  /** So is its address. */
  sandboxAttached: 0.7,
  /** The container's process runs. */
  containerStarted: 0.8,
} as const;

/** Work whose progress can be asked for. */
export interface Work {
  readonly ms: number;
  /** The share of its time that is over. */
  readonly progress: () => number;
}

/** Begins work of this length. */
export function beginWork({ clock }: World, ms: number): Work {
  const begun = clock.now();
  return { ms, progress: () => (ms > 0 ? (clock.now() - begun) / ms : 0) };
}
