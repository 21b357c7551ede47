/** The files of cgroup v2, all in one hierarchy (`fs2/*.go` of opencontainers/cgroups). */
import { meminfoBytes } from '../../usage/hostFacts.ts';
import type { CgroupPressure, CpuUsage, MemoryUsage } from './cgroupUsage.ts';
import { fieldIn, limitIn, numberIn, times } from './fields.ts';
import { parsePressure } from './pressure.ts';
import type { CgroupDirectory } from './usageV1.ts';

/** Nanoseconds of a microsecond. */
const US_NS = 1_000;

export function cpuV2(directory: CgroupDirectory): CpuUsage | undefined {
  const stat = directory.read('cpu.stat');
  if (stat === undefined) return undefined;
  // A cgroup to which its controller is not passed on has none of these, nor has the root.
  const isLimited = directory.has('cpu.max');
  const [quota, period] = isLimited ? (directory.setting('cpu.max')?.split(' ') ?? []) : [];
  return {
    usageNs: times(fieldIn(stat, 'usage_usec'), US_NS),
    userNs: times(fieldIn(stat, 'user_usec'), US_NS),
    systemNs: times(fieldIn(stat, 'system_usec'), US_NS),
    periods: fieldIn(stat, 'nr_periods'),
    throttledPeriods: fieldIn(stat, 'nr_throttled'),
    throttledNs: times(fieldIn(stat, 'throttled_usec'), US_NS),
    bursts: fieldIn(stat, 'nr_bursts'),
    burstNs: times(fieldIn(stat, 'burst_usec'), US_NS),
    quotaUs: numberIn(quota),
    periodUs: numberIn(period),
    shares: isLimited ? sharesOf(numberIn(directory.setting('cpu.weight'))) : undefined,
  };
}

/** A weight, 1 to 10000, as shares (`convertCPUWeightToCPULimit` in cAdvisor's `container/common/helpers.go`). */
const sharesOf = (weight: number | undefined): number | undefined =>
  weight === undefined || weight === 0 ? undefined : 2 + Math.trunc(((weight - 1) * 262_142) / 9_999);

/** `meminfo`: that of the host, for the root, which has no file for its swap. */
export function memoryV2(directory: CgroupDirectory, meminfo: () => string | undefined): MemoryUsage | undefined {
  const stat = directory.read('memory.stat');
  if (stat === undefined) return undefined;
  const [anon, file, inactiveFile] = ['anon', 'file', 'inactive_file'].map((key) => fieldIn(stat, key));
  const own = directory.has('memory.current') ? ownMemory(directory) : undefined;
  const usage = own === undefined ? (anon ?? 0) + (file ?? 0) : own.usage;
  return {
    ...(own ?? { swap: usedSwap(meminfo()) }),
    usage,
    inactiveFile,
    workingSet: usage === undefined ? undefined : Math.max(0, usage - (inactiveFile ?? 0)),
    rss: anon,
    cache: file,
    mappedFile: fieldIn(stat, 'file_mapped'),
    activeFile: fieldIn(stat, 'active_file'),
    pageFaults: fieldIn(stat, 'pgfault'),
    majorPageFaults: fieldIn(stat, 'pgmajfault'),
  };
}

/** What every cgroup has but the root. */
function ownMemory(directory: CgroupDirectory): MemoryUsage {
  // None of these in a kernel that does not count swap, nor the highest use before Linux 5.19.
  const hasSwap = directory.has('memory.swap.current');
  return {
    usage: numberIn(directory.read('memory.current')),
    max: directory.has('memory.peak') ? numberIn(directory.read('memory.peak')) : undefined,
    swap: hasSwap ? numberIn(directory.read('memory.swap.current')) : undefined,
    oomEvents: fieldIn(directory.read('memory.events.local'), 'oom'),
    limits: {
      limit: limitIn(directory.setting('memory.max')),
      swap: hasSwap ? limitIn(directory.setting('memory.swap.max')) : undefined,
      reservation: limitIn(directory.setting('memory.min')),
    },
  };
}

function usedSwap(meminfo = ''): number | undefined {
  const [total, free] = [meminfoBytes(meminfo, 'SwapTotal'), meminfoBytes(meminfo, 'SwapFree')];
  return total === undefined || free === undefined ? undefined : total - free;
}

/** Absent where the kernel does not count it. */
export function pressureV2(directory: CgroupDirectory): CgroupPressure | undefined {
  const [cpu, memory, io] = ['cpu', 'memory', 'io'].map((resource) => {
    const file = `${resource}.pressure`;
    return directory.has(file) ? parsePressure(directory.read(file)) : undefined;
  });
  return cpu === undefined && memory === undefined && io === undefined ? undefined : { cpu, memory, io };
}
