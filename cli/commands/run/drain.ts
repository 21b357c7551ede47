import type { Clock } from '../../../base/clock.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';

/** What a pod's end may take beside its grace: its volumes, its sandbox, a runtime that is slow. */
const MARGIN_MS = 15_000;

/** How long pods may take to end, in milliseconds: the longest of their graces and a margin. */
export function patience(pods: readonly Pod[]): number {
  const graces = pods.map(({ spec }) => spec.terminationGracePeriodSeconds ?? 30);
  return Math.max(0, ...graces) * 1_000 + MARGIN_MS;
}

/**
 * Ends all pods gracefully; where they do not end in their time, as with a runtime that hangs, it says so and resolves
 * all the same.
 */
export function drainInTime(parts: {
  readonly pods: readonly Pod[];
  readonly drain: () => Promise<void>;
  readonly clock: Clock;
  readonly print: (line: string) => void;
}): Promise<void> {
  const { pods, drain, clock, print } = parts;
  const limit = patience(pods);
  return new Promise((resolve, reject) => {
    const timer = clock.setTimeout(() => {
      print(`the pods did not terminate within ${limit / 1_000}s: no longer waiting for them`);
      resolve();
    }, limit);
    drain()
      .then(resolve, reject)
      .finally(() => clock.clearTimeout(timer));
  });
}
