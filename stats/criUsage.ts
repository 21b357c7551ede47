/** What the runtime says that containers and pods use, in the numbers of this project: milliseconds, and no wrappers. */
import type * as wire from '../cri/generated/runtime.ts';
import {
  type CpuStats,
  type InterfaceStats,
  type IoStats,
  type MemoryStats,
  type NetworkStats,
  networkOf,
  type PsiStats,
  type SwapStats,
  timeOf,
} from './summary.ts';

/** As far as it says. */
export interface RuntimeUsage {
  readonly cpu?: CpuStats | undefined;
  readonly memory?: MemoryStats | undefined;
  readonly swap?: SwapStats | undefined;
  readonly io?: IoStats | undefined;
  /** What a container has written to its own layer. */
  readonly layer?: LayerUsage | undefined;
  /** Of a pod. */
  readonly network?: NetworkStats | undefined;
  readonly processes?: number | undefined;
}

/** What is used of a file system. */
export interface LayerUsage {
  /** Milliseconds since the epoch. */
  readonly readAt: number;
  /** Where the file system is; empty where that is not said. */
  readonly mountpoint: string;
  readonly usedBytes?: number | undefined;
  readonly inodesUsed?: number | undefined;
}

const NS_IN_MS = 1_000_000n;
const milliseconds = (ns: bigint): number => Number(ns / NS_IN_MS);
const amount = (value: wire.UInt64Value | undefined): number | undefined => value && Number(value.value);

/** Gives a rate to a counter of processor time (nanoseconds, read at a moment in milliseconds since the epoch). */
export type RateOf = (usedNs: number, readAt: number) => number | undefined;

/** That of a container. */
export function containerUsage(stats: wire.ContainerStats, rateOf: RateOf): RuntimeUsage {
  return {
    cpu: stats.cpu && cpuOf(stats.cpu, rateOf),
    memory: stats.memory && memoryOf(stats.memory),
    swap: stats.swap && {
      time: timeOf(milliseconds(stats.swap.timestamp)),
      swapAvailableBytes: amount(stats.swap.swapAvailableBytes),
      swapUsageBytes: amount(stats.swap.swapUsageBytes),
    },
    io: stats.io && { time: timeOf(milliseconds(stats.io.timestamp)), psi: psiOf(stats.io.psi) },
    layer: stats.writableLayer && layerOf(stats.writableLayer),
  };
}

/** That of a pod, by its sandbox. */
export function podUsage({ linux }: wire.PodSandboxStats, rateOf: RateOf): RuntimeUsage {
  return {
    cpu: linux?.cpu && cpuOf(linux.cpu, rateOf),
    memory: linux?.memory && memoryOf(linux.memory),
    io: linux?.io && { time: timeOf(milliseconds(linux.io.timestamp)), psi: psiOf(linux.io.psi) },
    network: linux?.network && sandboxNetwork(linux.network),
    processes: amount(linux?.process?.processCount),
  };
}

export const layerOf = ({ timestamp, fsId, usedBytes, inodesUsed }: wire.FilesystemUsage): LayerUsage => ({
  readAt: milliseconds(timestamp),
  mountpoint: fsId?.mountpoint ?? '',
  usedBytes: amount(usedBytes),
  inodesUsed: amount(inodesUsed),
});

function cpuOf({ timestamp, usageCoreNanoSeconds, usageNanoCores, psi }: wire.CpuUsage, rateOf: RateOf): CpuStats {
  const readAt = milliseconds(timestamp);
  const used = amount(usageCoreNanoSeconds);
  // Taken down in any case: the next one may not have it.
  const rate = used === undefined ? undefined : rateOf(used, readAt);
  return {
    time: timeOf(readAt),
    usageNanoCores: amount(usageNanoCores) ?? rate,
    usageCoreNanoSeconds: used,
    psi: psiOf(psi),
  };
}

const memoryOf = (memory: wire.MemoryUsage): MemoryStats => ({
  time: timeOf(milliseconds(memory.timestamp)),
  availableBytes: amount(memory.availableBytes),
  usageBytes: amount(memory.usageBytes),
  workingSetBytes: amount(memory.workingSetBytes),
  rssBytes: amount(memory.rssBytes),
  pageFaults: amount(memory.pageFaults),
  majorPageFaults: amount(memory.majorPageFaults),
  psi: psiOf(memory.psi),
});

function psiOf(psi: wire.PsiStats | undefined): PsiStats | undefined {
  if (psi === undefined) return undefined;
  const line = (data: wire.PsiData | undefined) => ({
    total: Number(data?.Total ?? 0),
    avg10: data?.Avg10 ?? 0,
    avg60: data?.Avg60 ?? 0,
    avg300: data?.Avg300 ?? 0,
  });
  return { full: line(psi.Full), some: line(psi.Some) };
}

function sandboxNetwork({ timestamp, defaultInterface, interfaces }: wire.NetworkUsage): NetworkStats {
  const all = [...(defaultInterface ? [defaultInterface] : []), ...interfaces];
  const once = new Map(all.map((each) => [each.name, interfaceOf(each)]));
  return networkOf(milliseconds(timestamp), [...once.values()]);
}

const interfaceOf = ({ name, rxBytes, rxErrors, txBytes, txErrors }: wire.NetworkInterfaceUsage): InterfaceStats => ({
  name,
  rxBytes: amount(rxBytes),
  rxErrors: amount(rxErrors),
  txBytes: amount(txBytes),
  txErrors: amount(txErrors),
});
