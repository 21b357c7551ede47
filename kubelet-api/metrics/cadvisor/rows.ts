/** The rows of /metrics/cadvisor out of a sample: the node, what all pods share, and of each pod itself, sandbox, containers. */

import { nextTurn } from '../../../base/nextTurn.ts';
import type { countOpenFiles } from '../../../host/cgroup/usage/openFiles.ts';
import type { CgroupSample, NodeSample, PodSample } from '../../../stats/sample.ts';
import { type DiskUsage, type Row, type RowOf, rowLabels } from './row.ts';

/** What a sample does not have. */
export interface RowParts {
  /** The image of all sandboxes; empty where that is not known. */
  readonly pauseImage: string;
  readonly disks: readonly DiskUsage[];
  /** When the host was started, in milliseconds since the epoch. */
  readonly bootedAt?: number | undefined;
  /** Bytes of the host. */
  readonly memoryBytes: number;
  readonly swapBytes: number;
  readonly openFiles: typeof countOpenFiles;
  /** By what runs: where the runtime only has the image's digest, the name that its status has. */
  readonly imageNames: ReadonlyMap<string, string>;
}

/** As many pods as take a millisecond or so, to look at their open files. */
const PODS_A_TURN = 8;

export async function rowsOf(sample: NodeSample, parts: RowParts): Promise<readonly Row[]> {
  const { root, allPods, tiers, agent, network } = sample;
  const rows: Row[] = root ? [{ ...rowOf(withCapacity(root, parts), parts), ...nodeOnly(parts), network }] : [];
  for (const shared of allPods ? [allPods, ...tiers] : tiers) rows.push(rowOf(shared, parts));
  if (agent !== undefined && agent !== root) rows.push(rowOf(agent, parts));
  for (const [at, pod] of sample.pods.entries()) {
    if (at % PODS_A_TURN === 0) await nextTurn();
    rows.push(...podRows(pod, parts));
  }
  // While a pod gets another sandbox, it is told with each.
  return [...new Map(rows.map((row) => [row.labelText, row])).values()];
}

const nodeOnly = ({ disks, bootedAt }: RowParts): Partial<Row> => ({ disks, madeAt: bootedAt });

/** The node's limits are what the host has (`container/raw/handler.go` of cAdvisor). */
function withCapacity(root: CgroupSample, { memoryBytes, swapBytes }: RowParts): CgroupSample {
  const { memory } = root.usage;
  if (memory === undefined) return root;
  const limits = { ...memory.limits, limit: memoryBytes, swap: swapBytes };
  return { ...root, usage: { ...root.usage, memory: { ...memory, limits } } };
}

function podRows(pod: PodSample, parts: RowParts): Row[] {
  const who = { namespace: pod.namespace, pod: pod.name };
  const rows: Row[] = [];
  if (pod.cgroup !== undefined) rows.push(rowOf(pod.cgroup, parts, who, pod.createdAt));
  if (pod.sandboxCgroup !== undefined) {
    const sandbox = { ...who, image: parts.pauseImage, name: pod.sandboxId };
    rows.push({ ...rowOf(pod.sandboxCgroup, parts, sandbox, pod.createdAt), network: pod.network });
  }
  for (const { cgroup, name, image, id, createdAt } of pod.containers) {
    if (cgroup === undefined) continue;
    const own = { ...who, container: name, image: parts.imageNames.get(id) ?? image, name: id };
    rows.push(rowOf(cgroup, parts, own, createdAt));
  }
  return rows;
}

function rowOf({ path, usage }: CgroupSample, parts: RowParts, who: Omit<RowOf, 'id'> = {}, madeAt?: number): Row {
  const processes = usage.pids?.processes;
  return {
    ...rowLabels({ id: path, ...who }),
    usage,
    madeAt,
    files: processes && parts.openFiles(processes),
  };
}
