/** What a sample of a cgroup says, as the summary has it (`cadvisorInfoToCPUandMemoryStats` in `pkg/kubelet/stats/helper.go`). */
import type { Pressure, PressureLine } from '../host/cgroup/usage/cgroupUsage.ts';
import type { CgroupSample } from './sample.ts';
import { type CpuStats, type IoStats, type MemoryStats, type PsiStats, type SwapStats, timeOf } from './summary.ts';

/** What the host has, which is the limit of the root. Bytes. */
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

/** `root`: its limits are what the host has. */
export function cgroupStats({ usage, nanoCores }: CgroupSample, root?: HostTotals): CgroupStats {
  const { cpu, memory, io, pressure } = usage;
  const time = timeOf(usage.readAt);
  const limits = root ? { limit: root.memory, swap: root.swap } : memory?.limits;
  return {
    cpu: cpu && {
      time,
      // As a kubelet where it has no second sample yet.
      usageNanoCores: nanoCores ?? 0,
      usageCoreNanoSeconds: cpu.usageNs ?? 0,
      psi: psiOf(pressure?.cpu),
    },
    memory: memory && {
      time,
      availableBytes: leftOf(limits?.limit, memory.workingSet),
      usageBytes: memory.usage,
      workingSetBytes: memory.workingSet,
      rssBytes: memory.rss,
      pageFaults: memory.pageFaults,
      majorPageFaults: memory.majorPageFaults,
      psi: psiOf(pressure?.memory),
    },
    io: io && { time, psi: psiOf(pressure?.io) },
    swap: memory && {
      time,
      swapAvailableBytes: leftOf(limits?.swap, memory.swap ?? 0),
      swapUsageBytes: memory.swap ?? 0,
    },
  };
}

const leftOf = (limit: number | undefined, used: number | undefined): number | undefined =>
  limit === undefined || used === undefined ? undefined : Math.max(0, limit - used);

const NONE: PressureLine = { avg10: 0, avg60: 0, avg300: 0, totalUs: 0 };

/** Undefined if the kernel does not measure pressure, as in the hierarchies of cgroup v1. */
const psiOf = (pressure: Pressure | undefined): PsiStats | undefined =>
  pressure && { full: dataOf(pressure.full ?? NONE), some: dataOf(pressure.some ?? NONE) };

const dataOf = ({ totalUs, avg10, avg60, avg300 }: PressureLine) => ({ total: totalUs, avg10, avg60, avg300 });
