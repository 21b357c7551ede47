/**
 * Converts a cgroup sample to the fields of the stats summary (`cadvisorInfoToCPUandMemoryStats` in
 * `pkg/kubelet/stats/helper.go`).
 */
import type { Pressure, PressureLine } from '../host/cgroup/usage/cgroupUsage.ts';
import {
  type CpuStats,
  type IoStats,
  type MemoryStats,
  type PsiStats,
  type SwapStats,
  statsTime,
} from './node/summary.ts';
import type { CgroupSample } from './sample.ts';

/** Total memory and swap of the host in bytes, which are the limits of the root cgroup. */
export interface HostTotals {
  readonly memory?: number | undefined;
  readonly swap?: number | undefined;
}

export interface CgroupStats {
  readonly cpu?: CpuStats | undefined;
  readonly memory?: MemoryStats | undefined;
  readonly io?: IoStats | undefined;
  readonly swap?: SwapStats | undefined;
}

/**
 * Converts a cgroup sample to the fields of the stats summary. For the root cgroup, pass the host's totals as `root`,
 * because they are the root cgroup's limits.
 */
export function cgroupStats({ usage, nanoCores }: CgroupSample, root?: HostTotals): CgroupStats {
  const { cpu, memory, io, pressure } = usage;
  const timestamp = statsTime(usage.readAt);
  const limits = root ? { limit: root.memory, swap: root.swap } : memory?.limits;
  return {
    cpu: cpu && {
      time: timestamp,
      // Like the kubelet, report a rate of 0 until there is a second sample to compute it from.
      usageNanoCores: nanoCores ?? 0,
      // Like the kubelet, report 0 if the cgroup has no value (`cadvisorInfoToCPUandMemoryStats`).
      usageCoreNanoSeconds: cpu.usageNs ?? 0,
      psi: psiStats(pressure?.cpu),
    },
    memory: memory && {
      time: timestamp,
      availableBytes: remainingBytes(limits?.limit, memory.workingSet),
      usageBytes: memory.usage,
      workingSetBytes: memory.workingSet,
      rssBytes: memory.rss,
      pageFaults: memory.pageFaults,
      majorPageFaults: memory.majorPageFaults,
      psi: psiStats(pressure?.memory),
    },
    io: io && { time: timestamp, psi: psiStats(pressure?.io) },
    // Like the kubelet, report 0 if swap accounting is disabled, because cAdvisor then leaves its field at 0
    // (`cadvisorInfoToSwapStats`).
    swap: memory && {
      time: timestamp,
      swapAvailableBytes: remainingBytes(limits?.swap, memory.swap ?? 0),
      swapUsageBytes: memory.swap ?? 0,
    },
  };
}

const remainingBytes = (limit: number | undefined, used: number | undefined): number | undefined =>
  limit === undefined || used === undefined ? undefined : Math.max(0, limit - used);

/**
 * The kubelet's value for a `some` or `full` line that the kernel does not report, such as the CPU's `full` line before
 * Linux 5.13. A summary always contains both (`cadvisorPSIToStatsPSI`).
 */
const NO_PRESSURE: PressureLine = { avg10: 0, avg60: 0, avg300: 0, totalUs: 0 };

/**
 * Converts pressure stall information (PSI) to the fields of the summary. Undefined if the kernel does not measure it,
 * as on cgroup v1.
 */
const psiStats = (pressure: Pressure | undefined): PsiStats | undefined =>
  pressure && { full: psiData(pressure.full ?? NO_PRESSURE), some: psiData(pressure.some ?? NO_PRESSURE) };

const psiData = ({ totalUs, avg10, avg60, avg300 }: PressureLine) => ({ total: totalUs, avg10, avg60, avg300 });
