/** Implements the ports that rotate container logs and that infer restart counts from the log files. */

import { unlessAborted } from '../../../base/async/unlessAborted.ts';
import type { Clock } from '../../../base/time/clock.ts';
import type { Cri } from '../../../cri/client/calls.ts';
import { findNextRunNumber } from '../../../host/pods/findNextRunNumber.ts';
import type { Layout } from '../../../host/pods/layout.ts';
import { rotateIfNeeded } from '../../../host/pods/logRotation.ts';
import type { PortServices } from '../../boundary.ts';
import { withTimeout } from '../withTimeout.ts';

/** Limits for log rotation. */
export interface LogPolicy {
  /** Infinity disables rotation. */
  readonly maxBytes: number;
  readonly maxFiles: number;
  /** Maximum number of logs that are rotated concurrently. */
  readonly workers: number;
}

/** The kubelet's defaults. */
export const defaultLogPolicy: LogPolicy = { maxBytes: 10 * 1024 * 1024, maxFiles: 5, workers: 1 };

interface LogDependencies {
  readonly cri: Cri;
  readonly layout: Layout;
  readonly clock: Clock;
  readonly policy: LogPolicy;
  readonly onError: (source: string, error: unknown) => void;
}

type LogServices = Pick<PortServices, 'countRestarts' | 'rotateLogs'>;

export function logServices({ cri, layout, clock, policy, onError }: LogDependencies): LogServices {
  const { maxBytes, maxFiles, workers } = policy;
  return {
    countRestarts: async ({ pod, containers, limitMs }, { signal }) => {
      const count = async (container: string): Promise<[string, number]> => {
        const directory = layout.containerLogDir(pod.metadata, container);
        // Abandon a directory read that hangs, because it cannot be cancelled.
        const countRuns = (limit: AbortSignal) => unlessAborted(findNextRunNumber(layout.files, directory), limit);
        try {
          const pendingCount =
            limitMs === undefined ? countRuns(signal) : withTimeout(countRuns, { clock, timeoutMs: limitMs, signal });
          return [container, await pendingCount];
        } catch (error) {
          onError('countRestarts', error);
          return [container, 0];
        }
      };
      return { restarts: Object.fromEntries(await Promise.all(containers.map(count))) };
    },
    rotateLogs: async ({ logs }, { signal }) => {
      if (maxBytes === Infinity) return null;
      const pendingLogs = [...logs];
      const rotateQueued = async () => {
        for (let next = pendingLogs.shift(); next !== undefined && !signal.aborted; next = pendingLogs.shift()) {
          const { pod, container, id: containerId, attempt } = next;
          const reopenLog = async () => void (await cri.reopenContainerLog({ containerId }, { signal }));
          try {
            const file = `${layout.containerLogDir(pod, container)}/${attempt}.log`;
            await rotateIfNeeded({
              files: layout.files,
              file,
              maxBytes,
              maxFiles,
              now: clock.now(),
              reopen: reopenLog,
              signal,
            });
          } catch (error) {
            // An error, e.g. from an exited container or a full disk, must not prevent the rotation of other logs.
            if (!signal.aborted) onError('rotateLogs', error);
          }
        }
      };
      await Promise.all(Array.from({ length: workers }, rotateQueued));
      return null;
    },
  };
}
