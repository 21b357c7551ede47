/**
 * Creates a pod's entry in the summary from the pod's cgroups, the runtime's statistics and the pod's files
 * (`pkg/kubelet/stats/cri_stats_provider.go`).
 */
import type { InterfaceUsage } from '../../host/usage/netDev.ts';
import { cgroupStats } from '../cgroupStats.ts';
import {
  type ContainerStats,
  type CpuStats,
  createNetworkStats,
  type InterfaceStats,
  type MemoryStats,
  type NetworkStats,
  type PodStats,
  type SwapStats,
  statsTime,
} from '../node/summary.ts';
import type { CgroupSample, ContainerSample, NetworkSample, PodSample } from '../sample.ts';
import type { RuntimeUsage } from './criUsage.ts';
import type { PodFiles } from './podFiles.ts';

/**
 * Creates a pod's entry with the fields in the order of the summary. Omit `files` for a summary of CPU and memory only.
 */
export function podStats(pod: PodSample, files?: PodFiles): PodStats {
  const containers = pod.containers.map((each) => containerStats(each, files));
  const { cpu, memory, io, swap } = statsOfPod(pod, containers);
  return {
    podRef: { name: pod.name, namespace: pod.namespace, uid: pod.uid },
    startTime: statsTime(pod.createdAt),
    containers,
    cpu,
    memory,
    ...(files && {
      io,
      network: podNetwork(pod),
      ...(files.volumes.length > 0 ? { volume: files.volumes } : {}),
      'ephemeral-storage': files.ephemeralStorage,
      process_stats: processStats(pod),
    }),
    swap,
  };
}

function containerStats(container: ContainerSample, files: PodFiles | undefined): ContainerStats {
  const { cgroup, runtime, name, id, createdAt } = container;
  const { cpu, memory, io, swap } = combineStats(cgroup, runtime);
  const containerFiles = files?.containers.get(id);
  return {
    name,
    startTime: statsTime(createdAt),
    cpu,
    memory,
    ...(files && { io, rootfs: containerFiles?.rootfs, logs: containerFiles?.logs }),
    swap,
  };
}

/** Combines the statistics of a cgroup and of the runtime. The cgroup's values take precedence. */
function combineStats(cgroup: CgroupSample | undefined, runtime: RuntimeUsage | undefined) {
  const statsOfCgroup = cgroup && cgroupStats(cgroup);
  return {
    cpu: statsOfCgroup?.cpu ?? runtime?.cpu,
    memory: statsOfCgroup?.memory ?? runtime?.memory,
    io: statsOfCgroup?.io ?? runtime?.io,
    swap: statsOfCgroup?.swap ?? runtime?.swap,
  };
}

/**
 * Returns the statistics of a pod. CPU, memory or swap statistics that are missing are computed as the sum over its
 * containers.
 */
function statsOfPod({ cgroup, runtime }: PodSample, containers: readonly ContainerStats[]) {
  const { cpu, memory, io, swap } = combineStats(cgroup, runtime);
  return {
    cpu: cpu ?? sumStats<CpuStats>(containers.map((each) => each.cpu)),
    memory: memory ?? sumStats<MemoryStats>(containers.map((each) => each.memory)),
    io,
    swap: swap ?? sumStats<SwapStats>(containers.map((each) => each.swap)),
  };
}

/** Sums each numeric field. The timestamp is that of the last item. */
function sumStats<T extends CpuStats | MemoryStats | SwapStats>(statsList: readonly (T | undefined)[]): T | undefined {
  const definedStats = statsList.filter((each) => each !== undefined);
  const lastStats = definedStats.at(-1);
  if (lastStats === undefined) return undefined;
  const sumByField = new Map<string, number>();
  for (const each of definedStats) {
    for (const [name, value] of Object.entries(each)) {
      if (typeof value === 'number') sumByField.set(name, (sumByField.get(name) ?? 0) + value);
    }
  }
  // Safe cast, because the type has exactly these numeric fields.
  return { time: lastStats.time, ...Object.fromEntries(sumByField) } as unknown as T;
}

function podNetwork({ network, runtime }: PodSample): NetworkStats | undefined {
  return network ? networkStats(network) : runtime?.network;
}

export const networkStats = ({ readAt, interfaces }: NetworkSample): NetworkStats =>
  createNetworkStats(readAt, interfaces.map(interfaceStats));

const interfaceStats = ({ name, rxBytes, rxErrors, txBytes, txErrors }: InterfaceUsage): InterfaceStats => ({
  name,
  rxBytes,
  rxErrors,
  txBytes,
  txErrors,
});

/** Counts the processes of the containers, excluding the sandbox's own process. */
function processStats({ containers, runtime }: PodSample): PodStats['process_stats'] {
  const processCounts = containers.flatMap(({ cgroup }) => cgroup?.usage.pids?.processes?.length ?? []);
  const count = processCounts.length > 0 ? processCounts.reduce((sum, each) => sum + each, 0) : runtime?.processes;
  return count === undefined ? undefined : { process_count: count };
}
