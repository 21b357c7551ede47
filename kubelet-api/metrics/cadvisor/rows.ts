/**
 * Builds the rows of `/metrics/cadvisor`: the node, the parents of pod cgroups, and each pod with its sandbox and
 * containers.
 */

import { yieldToEventLoop } from '../../../base/async/yieldToEventLoop.ts';
import type { countOpenFiles } from '../../../host/cgroup/usage/openFiles.ts';
import type { CgroupSample, NodeSample, PodSample } from '../../../stats/sample.ts';
import { type DiskUsage, type Row, type RowIdentity, rowLabels } from './row.ts';

/** Properties of the node and its pods that are not part of a sample. */
export interface RowParts {
  /** The image of all sandboxes. Empty if unknown. */
  readonly pauseImage: string;
  readonly disks: readonly DiskUsage[];
  /** The boot time of the host, in milliseconds since the epoch. */
  readonly bootedAt?: number | undefined;
  readonly memoryBytes: number;
  readonly swapBytes: number;
  readonly openFiles: typeof countOpenFiles;
  /**
   * Image names from pod statuses, by container ID. They are needed because the runtime may report only the digest of
   * an image.
   */
  readonly imageNames: ReadonlyMap<string, string>;
}

/**
 * Number of pods to process before yielding to the event loop, because counting the open files of these pods takes
 * about a millisecond.
 */
const MAX_PODS_PER_TURN = 8;

export async function buildRows(sample: NodeSample, parts: RowParts): Promise<readonly Row[]> {
  const { root, allPods, qosCgroups, agent, network } = sample;
  const rows: Row[] = root ? [{ ...buildRow(withCapacity(root, parts), parts), ...nodeFields(parts), network }] : [];
  for (const cgroup of allPods ? [allPods, ...qosCgroups] : qosCgroups) rows.push(buildRow(cgroup, parts));
  if (agent !== undefined && agent !== root) rows.push(buildRow(agent, parts));
  for (const [index, pod] of sample.pods.entries()) {
    if (index % MAX_PODS_PER_TURN === 0) await yieldToEventLoop();
    rows.push(...podRows(pod, parts));
  }
  // Remove duplicates, because a pod whose sandbox is being replaced is listed once per sandbox.
  return [...new Map(rows.map((row) => [row.labelText, row])).values()];
}

const nodeFields = ({ disks, bootedAt }: RowParts): Partial<Row> => ({ disks, createdAt: bootedAt });

/** Sets the limits of the root cgroup to the capacity of the host (`container/raw/handler.go` of cAdvisor). */
function withCapacity(root: CgroupSample, { memoryBytes, swapBytes }: RowParts): CgroupSample {
  const { memory } = root.usage;
  if (memory === undefined) return root;
  const limits = { ...memory.limits, limit: memoryBytes, swap: swapBytes };
  return { ...root, usage: { ...root.usage, memory: { ...memory, limits } } };
}

function podRows(pod: PodSample, parts: RowParts): Row[] {
  const podIdentity = { namespace: pod.namespace, pod: pod.name };
  const rows: Row[] = [];
  if (pod.cgroup !== undefined) rows.push(buildRow(pod.cgroup, parts, podIdentity, pod.createdAt));
  if (pod.sandboxCgroup !== undefined) {
    const identity = { ...podIdentity, image: parts.pauseImage, name: pod.sandboxId };
    rows.push({ ...buildRow(pod.sandboxCgroup, parts, identity, pod.createdAt), network: pod.network });
  }
  for (const { cgroup, name, image, id, createdAt } of pod.containers) {
    if (cgroup === undefined) continue;
    const identity = { ...podIdentity, container: name, image: parts.imageNames.get(id) ?? image, name: id };
    rows.push(buildRow(cgroup, parts, identity, createdAt));
  }
  return rows;
}

function buildRow(
  { path, usage }: CgroupSample,
  parts: RowParts,
  identity: Omit<RowIdentity, 'id'> = {},
  createdAt?: number,
): Row {
  const processes = usage.pids?.processes;
  return {
    ...rowLabels({ id: path, ...identity }),
    usage,
    createdAt,
    files: processes && parts.openFiles(processes),
  };
}
