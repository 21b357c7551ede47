import type { Clock } from '../../../base/time/clock.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';

/** Time allowed beyond the grace period for volumes, the sandbox and a slow runtime, in milliseconds. */
const MARGIN_MS = 15_000;

/** Returns the time that pods may take to terminate, in milliseconds: the longest grace period plus a margin. */
export function drainTimeout(pods: readonly Pod[]): number {
  const gracePeriods = pods.map(({ spec }) => spec.terminationGracePeriodSeconds ?? 30);
  return Math.max(0, ...gracePeriods) * 1_000 + MARGIN_MS;
}

/**
 * Terminates all pods gracefully. If that takes too long, e.g. because the runtime hangs, prints a message and resolves
 * anyway.
 */
export function drainWithTimeout(options: {
  readonly pods: readonly Pod[];
  readonly drain: () => Promise<void>;
  readonly clock: Clock;
  readonly print: (line: string) => void;
}): Promise<void> {
  const { pods, drain, clock, print } = options;
  const timeoutMs = drainTimeout(pods);
  return new Promise((resolve, reject) => {
    const timer = clock.setTimeout(() => {
      print(`the pods did not terminate within ${timeoutMs / 1_000}s: no longer waiting for them`);
      resolve();
    }, timeoutMs);
    drain()
      .then(resolve, reject)
      .finally(() => clock.clearTimeout(timer));
  });
}
