/**
 * Serves `/metrics/cadvisor`, i.e. the usage of each cgroup under the metric names that Prometheus rules for Kubernetes
 * expect.
 */

import { yieldToEventLoop } from '../../../base/async/yieldToEventLoop.ts';
import { countOpenFiles } from '../../../host/cgroup/usage/openFiles.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { allStatuses } from '../../../kubernetes/status/allStatuses.ts';
import type { NodeSample } from '../../../stats/sample.ts';
import type { Route } from '../../exchange.ts';
import { generateChunks, type MetricFamily } from '../exposition.ts';
import { sendMetrics } from '../requests/sendMetrics.ts';
import { deviceMetrics, type GetDeviceName } from './deviceMetrics.ts';
import { type MachineInfo, machineFamilies } from './machineFamilies.ts';
import { toFamily } from './metric.ts';
import type { DiskUsage, Row } from './row.ts';
import { buildRows } from './rows.ts';
import { specMetrics } from './specMetrics.ts';
import { USAGE_METRICS } from './usageMetrics.ts';

export interface CadvisorParts {
  /** Returns a sample of all cgroups that is at most about ten seconds old. */
  readonly sample: (signal: AbortSignal) => Promise<NodeSample>;
  readonly host: (signal: AbortSignal) => Promise<CadvisorHost>;
  /** The node's pods with their status. */
  readonly pods: () => readonly Pod[];
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** The start of this process, in milliseconds since the epoch. */
  readonly startedAt: number;
}

/** Properties of the host that are not part of a sample of cgroups. */
export interface CadvisorHost {
  readonly machine: MachineInfo;
  readonly disks: readonly DiskUsage[];
  readonly nameDevice: GetDeviceName;
  /** The boot time, in milliseconds since the epoch. Undefined if unknown. */
  readonly bootedAt?: number | undefined;
  /** The image of sandboxes. Empty if the runtime does not report it. */
  readonly pauseImage: string;
}

export function cadvisorRoute(parts: CadvisorParts): Route {
  const expositionCache = new ExpositionCache(parts);
  return {
    pathPrefix: '/metrics/cadvisor',
    handle: async (exchange) => {
      const chunks = await expositionCache.get(exchange.signal);
      await sendMetrics(exchange, chunks, parts.startedAt);
    },
  };
}

type ExpositionChunks = readonly Buffer[];

/**
 * Caches the formatted metrics of the last sample for all scrapers. The references are weak, so that the garbage
 * collector can free the memory between scrapes.
 */
class ExpositionCache {
  readonly #parts: CadvisorParts;
  #lastExposition:
    | { readonly sample: WeakRef<NodeSample>; readonly chunks: WeakRef<Promise<ExpositionChunks>> }
    | undefined;

  constructor(parts: CadvisorParts) {
    this.#parts = parts;
  }

  async get(signal: AbortSignal): Promise<ExpositionChunks> {
    const sample = await this.#parts.sample(signal);
    const cachedChunks =
      this.#lastExposition?.sample.deref() === sample ? this.#lastExposition.chunks.deref() : undefined;
    if (cachedChunks !== undefined) return cachedChunks;
    const chunks = this.#buildExposition(sample, new AbortController().signal);
    const cacheEntry = { sample: new WeakRef(sample), chunks: new WeakRef(chunks) };
    this.#lastExposition = cacheEntry;
    // Do not cache a failure, so that the next scrape retries.
    chunks.catch(() => {
      if (this.#lastExposition === cacheEntry) this.#lastExposition = undefined;
    });
    return chunks;
  }

  /**
   * Formats the metrics. `signal` must not be the signal of the first scraper, because other scrapers may wait for the
   * same result.
   */
  async #buildExposition(sample: NodeSample, signal: AbortSignal): Promise<ExpositionChunks> {
    const host = await this.#parts.host(signal);
    const { memoryBytes, swapBytes } = host.machine;
    const rows = await buildRows(sample, {
      ...host,
      memoryBytes,
      swapBytes,
      openFiles: countOpenFiles,
      imageNames: this.#getImageNames(),
    });
    const chunks: Buffer[] = [];
    for (const chunk of generateChunks(buildFamilies(rows, host, sample, this.#parts.now()))) {
      chunks.push(Buffer.from(chunk));
      await yieldToEventLoop();
    }
    return chunks;
  }

  /** Returns the image names from pod statuses, keyed by container ID. */
  #getImageNames(): ReadonlyMap<string, string> {
    const statuses = this.#parts.pods().flatMap(({ status }) => allStatuses(status));
    return new Map(statuses.map(({ containerID = '', image }) => [containerID.replace(/^[^:]+:\/\//, ''), image]));
  }
}

/**
 * Returns the metric families sorted by name, as in a registry of Prometheus' Go library. `now` is in milliseconds
 * since the epoch.
 */
function buildFamilies(
  rows: readonly Row[],
  { machine, nameDevice }: Pick<CadvisorHost, 'machine' | 'nameDevice'>,
  sample: Pick<NodeSample, 'startedAt' | 'failure'>,
  now: number,
): readonly MetricFamily[] {
  const metrics = [...USAGE_METRICS, ...deviceMetrics(nameDevice), ...specMetrics(now)];
  const observation = { observedAt: sample.startedAt, hasFailed: sample.failure !== undefined };
  const families = [...metrics.map((metric) => toFamily(metric, rows)), ...machineFamilies(machine, observation)];
  return families.toSorted((left, right) => (left.name < right.name ? -1 : 1));
}
