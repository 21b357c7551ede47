/** Measures the disk usage of the logs of running containers (`pkg/kubelet/metrics/collectors/log_metrics.go`). */

import type { Clock } from '../../base/time/clock.ts';
import { startTimeLimit } from '../../base/time/timeLimit.ts';
import type { Layout } from '../../host/pods/layout.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { CachedValue } from '../cachedValue.ts';
import { directoryUsage } from './podFiles.ts';
import { podsFromStatus } from './runtimeLists.ts';

interface LogUsagesOptions {
  readonly pods: () => readonly Pod[];
  readonly layout: Pick<Layout, 'containerLogDir'>;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  /** Returns the total size of the files in a directory. Undefined if the directory does not exist. */
  readonly measure?: (directory: string) => Promise<{ readonly bytes: number } | undefined>;
}

export interface LogUsage {
  readonly uid: string;
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  readonly bytes: number;
}

/**
 * Maximum age of the results, in milliseconds. They are cached because logs grow slowly and measuring them takes
 * several hundred system calls.
 */
const MAX_AGE_MS = 60_000;
/** Time to wait for a measurement before returning the previous results, in milliseconds. */
const WAIT_MS = 1_000;

/** Measures the logs on demand, at most once a minute. */
export class LogUsages {
  readonly #cache: CachedValue<readonly LogUsage[]>;

  constructor(options: LogUsagesOptions) {
    this.#cache = new CachedValue({ computeValue: () => measureLogs(options), clock: options.clock });
  }

  /** Returns the current results, or the previous ones if the disk does not respond in time. */
  async latest(): Promise<readonly LogUsage[]> {
    const limit = startTimeLimit(WAIT_MS);
    try {
      return await this.#cache.get(MAX_AGE_MS, limit.signal);
    } catch {
      return this.#cache.getCached(Number.POSITIVE_INFINITY) ?? [];
    } finally {
      limit.clear();
    }
  }
}

/**
 * Measures the logs of the pods sequentially, so that a scrape does not occupy the whole thread pool for file system
 * calls.
 */
async function measureLogs({
  pods,
  layout,
  measure: measureDirectory = directoryUsage,
}: LogUsagesOptions): Promise<readonly LogUsage[]> {
  const logUsages: LogUsage[] = [];
  for (const pod of podsFromStatus(pods())) {
    for (const { name: container } of pod.containers) {
      const size = await measureDirectory(layout.containerLogDir(pod, container));
      const { uid, namespace, name } = pod;
      if (size !== undefined) logUsages.push({ uid, namespace, pod: name, container, bytes: size.bytes });
    }
  }
  return logUsages;
}
