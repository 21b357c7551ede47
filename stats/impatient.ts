/** Calls of the runtime for whoever has to answer in time: Prometheus gives up on a scrape after 10 s. */
import type { Cri, CriCall } from '../cri/calls.ts';
import type { StatsClock } from './statsClock.ts';

type StatsCri = Pick<
  Cri,
  'listPodSandbox' | 'listContainers' | 'listContainerStats' | 'listPodSandboxStats' | 'imageFsInfo'
>;

/** So long nobody waits as usual for what has not been answered in time, in milliseconds, */
const WARY_MS = 30_000;
/** but only so long, in milliseconds. */
const SHORT_MS = 1_000;
/** A timer may be so much early by this clock, in milliseconds. */
const EARLY_MS = 20;

/**
 * Waits for each call as long as it is told to. Once one was not answered within that, it has a second only, until it is
 * answered or half a minute has passed: an answer may take several of them, one after the other.
 */
export function impatient(cri: StatsCri, clock: Pick<StatsClock, 'monotonic'>): StatsCri {
  const wary = <Q, A>(call: CriCall<Q, A>): CriCall<Q, A> => {
    let hungAt: number | undefined;
    return async (request, options) => {
      const begunAt = clock.monotonic();
      const { timeoutMs = Number.POSITIVE_INFINITY } = options;
      const isWary = hungAt !== undefined && begunAt - hungAt < WARY_MS;
      try {
        const answer = await call(request, isWary ? { ...options, timeoutMs: Math.min(SHORT_MS, timeoutMs) } : options);
        hungAt = undefined;
        return answer;
      } catch (error) {
        if (!isWary && clock.monotonic() - begunAt >= timeoutMs - EARLY_MS) hungAt = clock.monotonic();
        throw error;
      }
    };
  };
  return {
    listPodSandbox: wary((request, options) => cri.listPodSandbox(request, options)),
    listContainers: wary((request, options) => cri.listContainers(request, options)),
    listContainerStats: wary((request, options) => cri.listContainerStats(request, options)),
    listPodSandboxStats: wary((request, options) => cri.listPodSandboxStats(request, options)),
    imageFsInfo: wary((request, options) => cri.imageFsInfo(request, options)),
  };
}
