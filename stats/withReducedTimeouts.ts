/** Reduces the timeouts of calls to a runtime that hangs, because Prometheus aborts a scrape after 10 s. */

import type { Clock } from '../base/time/clock.ts';
import type { Cri, CriCall } from '../cri/client/calls.ts';

type StatsCri = Pick<
  Cri,
  'listPodSandbox' | 'listContainers' | 'listContainerStats' | 'listPodSandboxStats' | 'imageFsInfo'
>;

/** Duration in milliseconds for which a method's timeout stays reduced after a call has timed out. */
const REDUCED_DURATION_MS = 30_000;
const REDUCED_TIMEOUT_MS = 1_000;
/** Tolerance for timers that fire early, in milliseconds. */
const TIMER_TOLERANCE_MS = 20;

/**
 * Wraps the runtime so that after a call has timed out, later calls of the same method time out after 1 s, until one
 * succeeds or 30 s have passed. The reason is that one scrape may need several sequential calls, whose full timeouts
 * would add up.
 */
export function withReducedTimeouts(
  cri: StatsCri,
  clock: Pick<Pick<Clock, 'now' | 'monotonic'>, 'monotonic'>,
): StatsCri {
  const reduceTimeout = <Q, A>(call: CriCall<Q, A>): CriCall<Q, A> => {
    let lastTimeoutAt: number | undefined;
    return async (request, options) => {
      const startedAt = clock.monotonic();
      const { timeoutMs = Number.POSITIVE_INFINITY } = options;
      const usesReducedTimeout = lastTimeoutAt !== undefined && startedAt - lastTimeoutAt < REDUCED_DURATION_MS;
      try {
        const response = await call(
          request,
          usesReducedTimeout ? { ...options, timeoutMs: Math.min(REDUCED_TIMEOUT_MS, timeoutMs) } : options,
        );
        lastTimeoutAt = undefined;
        return response;
      } catch (error) {
        if (!usesReducedTimeout && clock.monotonic() - startedAt >= timeoutMs - TIMER_TOLERANCE_MS)
          lastTimeoutAt = clock.monotonic();
        throw error;
      }
    };
  };
  return {
    listPodSandbox: reduceTimeout((request, options) => cri.listPodSandbox(request, options)),
    listContainers: reduceTimeout((request, options) => cri.listContainers(request, options)),
    listContainerStats: reduceTimeout((request, options) => cri.listContainerStats(request, options)),
    listPodSandboxStats: reduceTimeout((request, options) => cri.listPodSandboxStats(request, options)),
    imageFsInfo: reduceTimeout((request, options) => cri.imageFsInfo(request, options)),
  };
}
