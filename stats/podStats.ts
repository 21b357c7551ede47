/** What a pod uses, of what is known of its cgroups, its runtime, and its files (`pkg/kubelet/stats/cri_stats_provider.go`). */
import type { InterfaceUsage } from '../host/usage/netDev.ts';
import { cgroupStats } from './cgroupStats.ts';
import type { RuntimeUsage } from './criUsage.ts';
import type { PodFiles } from './podFiles.ts';
import type { CgroupSample, ContainerSample, NetworkSample, PodSample } from './sample.ts';
import {
  type ContainerStats,
  type CpuStats,
  type InterfaceStats,
  type MemoryStats,
  type NetworkStats,
  networkOf,
  type PodStats,
  type SwapStats,
  timeOf,
} from './summary.ts';

/** Of a pod, in the order of the summary. `files`: what is on disk of it; absent where only cpu and memory are asked for. */
export function podStats(pod: PodSample, files?: PodFiles): PodStats {
  const containers = pod.containers.map((each) => containerStats(each, files));
  const { cpu, memory, io, swap } = ownStats(pod, containers);
  return {
    podRef: { name: pod.name, namespace: pod.namespace, uid: pod.uid },
    startTime: timeOf(pod.createdAt),
    containers,
    cpu,
    memory,
    ...(files && {
      io,
      network: networkIn(pod),
      ...(files.volumes.length > 0 ? { volume: files.volumes } : {}),
      'ephemeral-storage': files.ephemeralStorage,
      process_stats: processesOf(pod),
    }),
    swap,
  };
}

function containerStats(container: ContainerSample, files: PodFiles | undefined): ContainerStats {
  const { cgroup, runtime, name, id, createdAt } = container;
  const { cpu, memory, io, swap } = whereSaid(cgroup, runtime);
  const own = files?.containers.get(id);
  return {
    name,
    startTime: timeOf(createdAt),
    cpu,
    memory,
    ...(files && { io, rootfs: own?.rootfs, logs: own?.logs }),
    swap,
  };
}

/** What cgroups say wins. */
function whereSaid(cgroup: CgroupSample | undefined, runtime: RuntimeUsage | undefined) {
  const own = cgroup && cgroupStats(cgroup);
  return {
    cpu: own?.cpu ?? runtime?.cpu,
    memory: own?.memory ?? runtime?.memory,
    io: own?.io ?? runtime?.io,
    swap: own?.swap ?? runtime?.swap,
  };
}

/** Where nobody says it of the pod, it is what its containers use together. */
function ownStats({ cgroup, runtime }: PodSample, containers: readonly ContainerStats[]) {
  const { cpu, memory, io, swap } = whereSaid(cgroup, runtime);
  return {
    cpu: cpu ?? sumOf<CpuStats>(containers.map((each) => each.cpu)),
    memory: memory ?? sumOf<MemoryStats>(containers.map((each) => each.memory)),
    io,
    swap: swap ?? sumOf<SwapStats>(containers.map((each) => each.swap)),
  };
}

/** The numbers of all, at the last one's time; what makes no sum is left out. */
function sumOf<T extends CpuStats | MemoryStats | SwapStats>(all: readonly (T | undefined)[]): T | undefined {
  const told = all.filter((each) => each !== undefined);
  const last = told.at(-1);
  if (last === undefined) return undefined;
  const sums = new Map<string, number>();
  for (const each of told) {
    for (const [name, value] of Object.entries(each)) {
      if (typeof value === 'number') sums.set(name, (sums.get(name) ?? 0) + value);
    }
  }
  // Its numbers are those that its type has.
  return { time: last.time, ...Object.fromEntries(sums) } as unknown as T;
}

function networkIn({ network, runtime }: PodSample): NetworkStats | undefined {
  return network ? networkStats(network) : runtime?.network;
}

/** That of the node, or of a pod. */
export const networkStats = ({ readAt, interfaces }: NetworkSample): NetworkStats =>
  networkOf(readAt, interfaces.map(interfaceStats));

const interfaceStats = ({ name, rxBytes, rxErrors, txBytes, txErrors }: InterfaceUsage): InterfaceStats => ({
  name,
  rxBytes,
  rxErrors,
  txBytes,
  txErrors,
});

/** The sandbox's own process is nobody's container. */
function processesOf({ containers, runtime }: PodSample): PodStats['process_stats'] {
  const counts = containers.flatMap(({ cgroup }) => cgroup?.usage.pids?.processes?.length ?? []);
  const count = counts.length > 0 ? counts.reduce((sum, each) => sum + each, 0) : runtime?.processes;
  return count === undefined ? undefined : { process_count: count };
}
