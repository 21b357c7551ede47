/** Reads the files of cgroup v2, which has a single hierarchy (`fs2/*.go` of opencontainers/cgroups). */
import { parseMeminfoBytes } from '../../usage/hostFacts.ts';
import type { CgroupPressure, CpuUsage, MemoryUsage } from './cgroupUsage.ts';
import { multiply, parseField, parseLimit, parseNumber } from './fields.ts';
import { parsePressure } from './pressure.ts';
import { type CgroupDirectory, subtractInactiveFile } from './usageV1.ts';

const NS_PER_US = 1_000;

export function readCpuV2(directory: CgroupDirectory): CpuUsage | undefined {
  const cpuStat = directory.read('cpu.stat');
  if (cpuStat === undefined) return undefined;
  // The root cgroup and cgroups without an enabled cpu controller have no files for limits.
  const isLimited = directory.has('cpu.max');
  const [quota, period] = isLimited ? (directory.readSetting('cpu.max')?.split(' ') ?? []) : [];
  return {
    usageNs: multiply(parseField(cpuStat, 'usage_usec'), NS_PER_US),
    userNs: multiply(parseField(cpuStat, 'user_usec'), NS_PER_US),
    systemNs: multiply(parseField(cpuStat, 'system_usec'), NS_PER_US),
    periods: parseField(cpuStat, 'nr_periods'),
    throttledPeriods: parseField(cpuStat, 'nr_throttled'),
    throttledNs: multiply(parseField(cpuStat, 'throttled_usec'), NS_PER_US),
    bursts: parseField(cpuStat, 'nr_bursts'),
    burstNs: multiply(parseField(cpuStat, 'burst_usec'), NS_PER_US),
    quotaUs: parseNumber(quota),
    periodUs: parseNumber(period),
    shares: isLimited ? weightToShares(parseNumber(directory.readSetting('cpu.weight'))) : undefined,
  };
}

/**
 * Converts a weight from 1 to 10000 to shares (`convertCPUWeightToCPULimit` in cAdvisor's
 * `container/common/helpers.go`).
 */
const weightToShares = (weight: number | undefined): number | undefined =>
  weight === undefined || weight === 0 ? undefined : 2 + Math.trunc(((weight - 1) * 262_142) / 9_999);

/** Reads the memory usage. The root cgroup has no file for swap, so its swap usage comes from the host's `meminfo`. */
export function readMemoryV2(directory: CgroupDirectory, meminfo: () => string | undefined): MemoryUsage | undefined {
  const memoryStat = directory.read('memory.stat');
  if (memoryStat === undefined) return undefined;
  return {
    ...(hasMemoryFiles(directory) ? readMemoryFiles(directory) : { swap: parseUsedSwap(meminfo()) }),
    ...workingSetV2(directory, memoryStat),
    rss: parseField(memoryStat, 'anon'),
    cache: parseField(memoryStat, 'file'),
    mappedFile: parseField(memoryStat, 'file_mapped'),
    activeFile: parseField(memoryStat, 'active_file'),
    pageFaults: parseField(memoryStat, 'pgfault'),
    majorPageFaults: parseField(memoryStat, 'pgmajfault'),
  };
}

/** Reads only the working set, which takes a third as long as reading the complete memory usage. */
export function readWorkingSetV2(directory: CgroupDirectory): MemoryUsage | undefined {
  const memoryStat = directory.read('memory.stat');
  return memoryStat === undefined ? undefined : workingSetV2(directory, memoryStat);
}

/**
 * Returns the working set. The root cgroup has no `memory.current`, so its usage is the sum of its anonymous and file
 * pages.
 */
function workingSetV2(directory: CgroupDirectory, memoryStat: string) {
  const [anon, file, inactiveFile] = ['anon', 'file', 'inactive_file'].map((key) => parseField(memoryStat, key));
  const usage = hasMemoryFiles(directory) ? parseNumber(directory.read('memory.current')) : (anon ?? 0) + (file ?? 0);
  return subtractInactiveFile(usage, inactiveFile);
}

const hasMemoryFiles = (directory: CgroupDirectory): boolean => directory.has('memory.current');

/** Reads the files that all cgroups except the root have. */
function readMemoryFiles(directory: CgroupDirectory): MemoryUsage {
  // The swap files do not exist if the kernel does not account for swap, and memory.peak requires Linux 5.19.
  const hasSwap = directory.has('memory.swap.current');
  return {
    max: directory.has('memory.peak') ? parseNumber(directory.read('memory.peak')) : undefined,
    swap: hasSwap ? parseNumber(directory.read('memory.swap.current')) : undefined,
    oomEvents: parseField(directory.read('memory.events.local'), 'oom'),
    limits: {
      limit: parseLimit(directory.readSetting('memory.max')),
      swap: hasSwap ? parseLimit(directory.readSetting('memory.swap.max')) : undefined,
      reservation: parseLimit(directory.readSetting('memory.min')),
    },
  };
}

function parseUsedSwap(meminfo = ''): number | undefined {
  const [total, free] = [parseMeminfoBytes(meminfo, 'SwapTotal'), parseMeminfoBytes(meminfo, 'SwapFree')];
  return total === undefined || free === undefined ? undefined : total - free;
}

/** Reads the pressure. Returns undefined if the kernel does not record it. */
export function readPressureV2(directory: CgroupDirectory): CgroupPressure | undefined {
  const [cpu, memory, io] = ['cpu', 'memory', 'io'].map((resource) => {
    const file = `${resource}.pressure`;
    return directory.has(file) ? parsePressure(directory.read(file)) : undefined;
  });
  return cpu === undefined && memory === undefined && io === undefined ? undefined : { cpu, memory, io };
}
