/** What the logs of running containers take on disk (`pkg/kubelet/metrics/collectors/log_metrics.go`). */
import { startLimit } from '../base/limit.ts';
import type { Layout } from '../host/pods/layout.ts';
import type { Pod } from '../kubernetes/api/schema/pod.ts';
import { Moment } from './moment.ts';
import { filesIn } from './podFiles.ts';
import { toldPods } from './runtimeLists.ts';
import type { StatsClock } from './statsClock.ts';

interface LogUsagesParts {
  readonly pods: () => readonly Pod[];
  readonly layout: Pick<Layout, 'containerLogDir'>;
  readonly clock: StatsClock;
  /** What the files of a directory take; undefined where there is none. */
  readonly count?: (directory: string) => Promise<{ readonly bytes: number } | undefined>;
}

/** The log of one container. */
export interface LogUsage {
  readonly uid: string;
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  readonly bytes: number;
}

/** How old figures may be: a log grows slowly, and all of them are some hundred calls of the file system. */
const MOST_AGE_MS = 60_000;
/** So long whoever asks waits for a disk, in milliseconds; then it is what was known before. */
const PATIENCE_MS = 1_000;

/** Looks at them when somebody asks, once for all who ask within a minute. */
export class LogUsages {
  readonly #moment: Moment<readonly LogUsage[]>;

  constructor(parts: LogUsagesParts) {
    this.#moment = new Moment({ make: () => usages(parts), clock: parts.clock });
  }

  /** Of a disk that does not answer, what it last said. */
  async latest(): Promise<readonly LogUsage[]> {
    const limit = startLimit(PATIENCE_MS);
    try {
      return await this.#moment.get(MOST_AGE_MS, limit.signal);
    } catch {
      return this.#moment.latest(Number.POSITIVE_INFINITY) ?? [];
    } finally {
      limit.end();
    }
  }
}

/** One pod after the other: what a scrape needs is not to keep all others from the disk. */
async function usages({ pods, layout, count = filesIn }: LogUsagesParts): Promise<readonly LogUsage[]> {
  const found: LogUsage[] = [];
  for (const pod of toldPods(pods())) {
    for (const { name: container } of pod.containers) {
      const taken = await count(layout.containerLogDir(pod, container));
      const { uid, namespace, name } = pod;
      if (taken !== undefined) found.push({ uid, namespace, pod: name, container, bytes: taken.bytes });
    }
  }
  return found;
}
