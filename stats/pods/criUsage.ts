/** Converts the runtime's statistics of containers and pods to the fields of the summary. */
import type * as wire from '../../cri/generated/runtime.ts';
import {
  type CpuStats,
  createNetworkStats,
  type InterfaceStats,
  type IoStats,
  type MemoryStats,
  type NetworkStats,
  type PsiStats,
  type SwapStats,
  statsTime,
} from '../node/summary.ts';

/**
 * Resource usage of a container or pod as reported by the runtime. Fields that the runtime does not report are
 * undefined.
 */
export interface RuntimeUsage {
  readonly cpu?: CpuStats | undefined;
  readonly memory?: MemoryStats | undefined;
  readonly swap?: SwapStats | undefined;
  readonly io?: IoStats | undefined;
  /** Usage of the container's writable layer. */
  readonly layer?: LayerUsage | undefined;
  /** Network statistics of a pod. Undefined for containers. */
  readonly network?: NetworkStats | undefined;
  readonly processes?: number | undefined;
}

/** Disk usage of a writable layer. */
export interface LayerUsage {
  /** Milliseconds since the epoch. */
  readonly readAt: number;
  /** Mount point of the file system. Empty if the runtime does not report it. */
  readonly mountpoint: string;
  readonly usedBytes?: number | undefined;
  readonly inodesUsed?: number | undefined;
}

const NS_IN_MS = 1_000_000n;
const toMilliseconds = (ns: bigint): number => Number(ns / NS_IN_MS);
const toNumber = (value: wire.UInt64Value | undefined): number | undefined => value && Number(value.value);

/**
 * Computes the CPU rate from a counter. `usedNs` is the counter in nanoseconds, and `readAt` is the time of the reading
 * in milliseconds since the epoch.
 */
export type RateOf = (usedNs: number, readAt: number) => number | undefined;

export function containerUsage(stats: wire.ContainerStats, rateOf: RateOf): RuntimeUsage {
  return {
    cpu: stats.cpu && cpuStats(stats.cpu, rateOf),
    memory: stats.memory && memoryStats(stats.memory),
    swap: stats.swap && {
      time: statsTime(toMilliseconds(stats.swap.timestamp)),
      swapAvailableBytes: toNumber(stats.swap.swapAvailableBytes),
      swapUsageBytes: toNumber(stats.swap.swapUsageBytes),
    },
    io: stats.io && { time: statsTime(toMilliseconds(stats.io.timestamp)), psi: psiStats(stats.io.psi) },
    layer: stats.writableLayer && layerUsage(stats.writableLayer),
  };
}

export function podUsage({ linux }: wire.PodSandboxStats, rateOf: RateOf): RuntimeUsage {
  return {
    cpu: linux?.cpu && cpuStats(linux.cpu, rateOf),
    memory: linux?.memory && memoryStats(linux.memory),
    io: linux?.io && { time: statsTime(toMilliseconds(linux.io.timestamp)), psi: psiStats(linux.io.psi) },
    network: linux?.network && sandboxNetwork(linux.network),
    processes: toNumber(linux?.process?.processCount),
  };
}

export const layerUsage = ({ timestamp, fsId, usedBytes, inodesUsed }: wire.FilesystemUsage): LayerUsage => ({
  readAt: toMilliseconds(timestamp),
  mountpoint: fsId?.mountpoint ?? '',
  usedBytes: toNumber(usedBytes),
  inodesUsed: toNumber(inodesUsed),
});

function cpuStats({ timestamp, usageCoreNanoSeconds, usageNanoCores, psi }: wire.CpuUsage, rateOf: RateOf): CpuStats {
  const readAt = toMilliseconds(timestamp);
  const usedNs = toNumber(usageCoreNanoSeconds);
  // Compute the rate even if the runtime reports one, because this stores the counter. The counter is needed if the
  // runtime does not report the next rate.
  const coreUsageRate = usedNs === undefined ? undefined : rateOf(usedNs, readAt);
  return {
    time: statsTime(readAt),
    usageNanoCores: toNumber(usageNanoCores) ?? coreUsageRate,
    usageCoreNanoSeconds: usedNs,
    psi: psiStats(psi),
  };
}

const memoryStats = (memory: wire.MemoryUsage): MemoryStats => ({
  time: statsTime(toMilliseconds(memory.timestamp)),
  availableBytes: toNumber(memory.availableBytes),
  usageBytes: toNumber(memory.usageBytes),
  workingSetBytes: toNumber(memory.workingSetBytes),
  rssBytes: toNumber(memory.rssBytes),
  pageFaults: toNumber(memory.pageFaults),
  majorPageFaults: toNumber(memory.majorPageFaults),
  psi: psiStats(memory.psi),
});

/**
 * Like the kubelet, uses 0 for `some` or `full` if the runtime does not report it, because a summary always contains
 * both (`makePSIStats` in `pkg/kubelet/stats/cri_stats_provider.go`).
 */
function psiStats(psi: wire.PsiStats | undefined): PsiStats | undefined {
  if (psi === undefined) return undefined;
  const pressureData = (data: wire.PsiData | undefined) => ({
    total: Number(data?.Total ?? 0),
    avg10: data?.Avg10 ?? 0,
    avg60: data?.Avg60 ?? 0,
    avg300: data?.Avg300 ?? 0,
  });
  return { full: pressureData(psi.Full), some: pressureData(psi.Some) };
}

function sandboxNetwork({ timestamp, defaultInterface, interfaces }: wire.NetworkUsage): NetworkStats {
  const interfaceList = [...(defaultInterface ? [defaultInterface] : []), ...interfaces];
  const interfaceByName = new Map(interfaceList.map((each) => [each.name, interfaceStats(each)]));
  return createNetworkStats(toMilliseconds(timestamp), [...interfaceByName.values()]);
}

const interfaceStats = ({
  name,
  rxBytes,
  rxErrors,
  txBytes,
  txErrors,
}: wire.NetworkInterfaceUsage): InterfaceStats => ({
  name,
  rxBytes: toNumber(rxBytes),
  rxErrors: toNumber(rxErrors),
  txBytes: toNumber(txBytes),
  txErrors: toNumber(txErrors),
});
