/** /metrics/cadvisor: what each cgroup of the node uses, as Prometheus' rules for Kubernetes expect it of a kubelet. */

import { nextTurn } from '../../../base/nextTurn.ts';
import { countOpenFiles } from '../../../host/cgroup/usage/openFiles.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type { NodeSample } from '../../../stats/sample.ts';
import type { Route } from '../../exchange.ts';
import { expositionChunks, type Family } from '../exposition.ts';
import { answerMetrics } from '../requests/answerMetrics.ts';
import { deviceMetrics, type NameDevice } from './deviceMetrics.ts';
import { type Machine, machineFamilies } from './machineFamilies.ts';
import { familyOf } from './metric.ts';
import type { DiskUsage, Row } from './row.ts';
import { rowsOf } from './rows.ts';
import { specMetrics } from './specMetrics.ts';
import { USAGE_METRICS } from './usageMetrics.ts';

export interface CadvisorParts {
  /** One of everything, some ten seconds old at most. */
  readonly sample: (signal: AbortSignal) => Promise<NodeSample>;
  readonly host: (signal: AbortSignal) => Promise<CadvisorHost>;
  /** Those of the node with their status. */
  readonly pods: () => readonly Pod[];
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** When this process began. */
  readonly startedAt: number;
}

/** The host, as far as a sample of cgroups does not tell of it. */
export interface CadvisorHost {
  readonly machine: Machine;
  readonly disks: readonly DiskUsage[];
  readonly nameDevice: NameDevice;
  /** Milliseconds since the epoch. */
  readonly bootedAt?: number | undefined;
  /** Empty where the runtime does not say. */
  readonly pauseImage: string;
}

export function cadvisorRoute(parts: CadvisorParts): Route {
  const texts = new CadvisorTexts(parts);
  return {
    tree: '/metrics/cadvisor',
    answer: async (exchange) => {
      const text = await texts.get(exchange.signal);
      await answerMetrics(exchange, text, parts.startedAt);
    },
  };
}

type Text = readonly Buffer[];

/** The text of the last sample, which all scrapers of it share: as long as somebody reads it, and then while memory lasts. */
class CadvisorTexts {
  readonly #parts: CadvisorParts;
  #last: { readonly sample: WeakRef<NodeSample>; readonly text: WeakRef<Promise<Text>> } | undefined;

  constructor(parts: CadvisorParts) {
    this.#parts = parts;
  }

  async get(signal: AbortSignal): Promise<Text> {
    const sample = await this.#parts.sample(signal);
    const known = this.#last?.sample.deref() === sample ? this.#last.text.deref() : undefined;
    if (known !== undefined) return known;
    const text = this.#make(sample, new AbortController().signal);
    const made = { sample: new WeakRef(sample), text: new WeakRef(text) };
    this.#last = made;
    // What has failed is tried again by who asks next.
    text.catch(() => {
      if (this.#last === made) this.#last = undefined;
    });
    return text;
  }

  /** Whoever asked first may go away while others wait for the same: it has limits of its own. */
  async #make(sample: NodeSample, signal: AbortSignal): Promise<Text> {
    const host = await this.#parts.host(signal);
    const { memoryBytes, swapBytes } = host.machine;
    const rows = await rowsOf(sample, {
      ...host,
      memoryBytes,
      swapBytes,
      openFiles: countOpenFiles,
      imageNames: this.#imageNames(),
    });
    const chunks: Buffer[] = [];
    for (const chunk of expositionChunks(cadvisorFamilies(rows, host, sample, this.#parts.now()))) {
      chunks.push(Buffer.from(chunk));
      await nextTurn();
    }
    return chunks;
  }

  /** By container ID. */
  #imageNames(): ReadonlyMap<string, string> {
    const statuses = this.#parts
      .pods()
      .flatMap(({ status }) => [
        ...(status?.initContainerStatuses ?? []),
        ...(status?.containerStatuses ?? []),
        ...(status?.ephemeralContainerStatuses ?? []),
      ]);
    return new Map(statuses.map(({ containerID = '', image }) => [containerID.replace(/^[^:]+:\/\//, ''), image]));
  }
}

/** In the order of their names, as a registry of Prometheus' library has them. `now`: milliseconds since the epoch. */
function cadvisorFamilies(
  rows: readonly Row[],
  { machine, nameDevice }: Pick<CadvisorHost, 'machine' | 'nameDevice'>,
  sample: Pick<NodeSample, 'startedAt' | 'failure'>,
  now: number,
): readonly Family[] {
  const metrics = [...USAGE_METRICS, ...deviceMetrics(nameDevice), ...specMetrics(now)];
  const seen = { at: sample.startedAt, hasFailed: sample.failure !== undefined };
  const families = [...metrics.map((metric) => familyOf(metric, rows)), ...machineFamilies(machine, seen)];
  return families.toSorted((one, other) => (one.name < other.name ? -1 : 1));
}
