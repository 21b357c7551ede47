/** Fills the ports of containers' logs: their rotation, and what they tell of former runs. */

import type { Clock } from '../../../base/clock.ts';
import { unlessAborted } from '../../../base/unlessAborted.ts';
import type { Cri } from '../../../cri/client/calls.ts';
import type { Layout } from '../../../host/pods/layout.ts';
import { nextRunByLogs } from '../../../host/pods/loggedRuns.ts';
import { rotateIfNeeded } from '../../../host/pods/logRotation.ts';
import type { Services } from '../../boundary.ts';
import { withinLimit } from '../timeLimit.ts';

/** How large a container's log gets, and how many files there are of it. */
export interface LogPolicy {
  /** Infinity: logs are never rotated. */
  readonly maxBytes: number;
  readonly maxFiles: number;
  /** How many logs are rotated at a time. */
  readonly workers: number;
}

/** The kubelet's own. */
export const defaultLogPolicy: LogPolicy = { maxBytes: 10 * 1024 * 1024, maxFiles: 5, workers: 1 };

interface LogParts {
  readonly cri: Cri;
  readonly layout: Layout;
  readonly clock: Clock;
  readonly policy: LogPolicy;
  readonly onError: (source: string, error: unknown) => void;
}

type LogServices = Pick<Services, 'countRestarts' | 'rotateLogs'>;

export function logServices({ cri, layout, clock, policy, onError }: LogParts): LogServices {
  const { maxBytes, maxFiles, workers } = policy;
  return {
    countRestarts: async ({ pod, containers, limitMs }, { signal }) => {
      const count = async (container: string): Promise<[string, number]> => {
        const directory = layout.containerLogDir(pod.metadata, container);
        // A folder that hangs cannot be called off; nobody waits for it any more.
        const look = (limit: AbortSignal) => unlessAborted(nextRunByLogs(layout.files, directory), limit);
        try {
          const limited =
            limitMs === undefined ? look(signal) : withinLimit(look, { clock, timeoutMs: limitMs, signal });
          return [container, await limited];
        } catch (error) {
          onError('countRestarts', error);
          return [container, 0];
        }
      };
      return { restarts: Object.fromEntries(await Promise.all(containers.map(count))) };
    },
    rotateLogs: async ({ logs }, { signal }) => {
      if (maxBytes === Infinity) return null;
      const waiting = [...logs];
      const work = async () => {
        for (let next = waiting.shift(); next !== undefined && !signal.aborted; next = waiting.shift()) {
          const { pod, container, id: containerId, attempt } = next;
          const reopen = async () => void (await cri.reopenContainerLog({ containerId }, { signal }));
          try {
            const file = `${layout.containerLogDir(pod, container)}/${attempt}.log`;
            await rotateIfNeeded({ files: layout.files, file, maxBytes, maxFiles, now: clock.now(), reopen, signal });
          } catch (error) {
            // One that ends meanwhile, or whose disk is full, keeps nobody else waiting.
            if (!signal.aborted) onError('rotateLogs', error);
          }
        }
      };
      await Promise.all(Array.from({ length: workers }, work));
      return null;
    },
  };
}
