/** Reads the files of cgroup v1, where each controller has its own hierarchy (`fs/*.go` of opencontainers/cgroups). */
import type { CpuUsage, DeviceUsage, MemoryUsage, PidsUsage } from './cgroupUsage.ts';
import { parseBlkio } from './devices.ts';
import { multiply, parseField, parseLimit, parseNumber } from './fields.ts';

export interface CgroupDirectory {
  /** Returns the contents of a file, or undefined if it does not exist. */
  read(file: string): string | undefined;
  /** Whether a file exists, which is cheaper than a failed read. */
  has(file: string): boolean;
  /**
   * Returns the contents of a file that the kernel never changes on its own. The contents are cached for up to a
   * minute.
   */
  readSetting(file: string): string | undefined;
}

/** Nanoseconds per clock tick, the unit of the CPU times on v1. */
const TICK_NS = 10_000_000;

export const readCpuacctV1 = (cpuacct: CgroupDirectory): Pick<CpuUsage, 'usageNs' | 'userNs' | 'systemNs'> => {
  const cpuStat = cpuacct.read('cpuacct.stat');
  return {
    usageNs: parseNumber(cpuacct.read('cpuacct.usage')),
    userNs: multiply(parseField(cpuStat, 'user'), TICK_NS),
    systemNs: multiply(parseField(cpuStat, 'system'), TICK_NS),
  };
};

export function readCpuV1(cpu: CgroupDirectory): CpuUsage {
  const quotaUs = parseNumber(cpu.readSetting('cpu.cfs_quota_us'));
  // Without a CPU quota, there are no throttling statistics.
  const cpuStat = quotaUs === undefined ? undefined : cpu.read('cpu.stat');
  return {
    quotaUs,
    periods: parseField(cpuStat, 'nr_periods'),
    throttledPeriods: parseField(cpuStat, 'nr_throttled'),
    throttledNs: parseField(cpuStat, 'throttled_time'),
    periodUs: parseNumber(cpu.readSetting('cpu.cfs_period_us')),
    shares: parseNumber(cpu.readSetting('cpu.shares')),
  };
}

export function readMemoryV1(memory: CgroupDirectory): MemoryUsage | undefined {
  const memoryStat = memory.read('memory.stat');
  if (memoryStat === undefined) return undefined;
  return {
    ...workingSetV1(memory, memoryStat),
    max: parseNumber(memory.read('memory.max_usage_in_bytes')),
    rss: parseField(memoryStat, 'total_rss'),
    cache: parseField(memoryStat, 'total_cache'),
    mappedFile: parseField(memoryStat, 'total_mapped_file'),
    activeFile: parseField(memoryStat, 'total_active_file'),
    swap: parseField(memoryStat, 'total_swap'),
    kernel: parseNumber(memory.read('memory.kmem.usage_in_bytes')),
    failcnt: parseNumber(memory.read('memory.failcnt')),
    // Page faults of the cgroup without its descendants, as in cAdvisor.
    pageFaults: parseField(memoryStat, 'pgfault'),
    majorPageFaults: parseField(memoryStat, 'pgmajfault'),
    oomEvents: parseField(memory.read('memory.oom_control'), 'oom_kill'),
    limits: {
      limit: parseLimit(memory.readSetting('memory.limit_in_bytes')),
      swap: memory.has(SWAP_LIMIT_FILE) ? parseLimit(memory.readSetting(SWAP_LIMIT_FILE)) : undefined,
      reservation: parseLimit(memory.readSetting('memory.soft_limit_in_bytes')),
    },
  };
}

/** Reads only the working set, which takes a third as long as reading the complete memory usage. */
export function readWorkingSetV1(memory: CgroupDirectory): MemoryUsage | undefined {
  const memoryStat = memory.read('memory.stat');
  return memoryStat === undefined ? undefined : workingSetV1(memory, memoryStat);
}

const workingSetV1 = (memory: CgroupDirectory, memoryStat: string) =>
  subtractInactiveFile(
    parseNumber(memory.read('memory.usage_in_bytes')),
    parseField(memoryStat, 'total_inactive_file'),
  );

/** Computes the working set, which excludes inactive files, because the kernel would reclaim them first. */
export const subtractInactiveFile = (usage: number | undefined, inactiveFile: number | undefined) => ({
  usage,
  inactiveFile,
  workingSet: usage === undefined ? undefined : Math.max(0, usage - (inactiveFile ?? 0)),
});

/** File that exists only if the kernel accounts for swap. */
const SWAP_LIMIT_FILE = 'memory.memsw.limit_in_bytes';

/** Reads the pids controller, whose files have the same names on v1 and v2. */
export const readPids = (directory: CgroupDirectory): PidsUsage => {
  // The root cgroup does not count its threads.
  const hasCounters = directory.has('pids.current');
  return {
    threads: hasCounters ? parseNumber(directory.read('pids.current')) : undefined,
    threadsLimit: hasCounters ? parseLimit(directory.readSetting('pids.max')) : undefined,
    processes: directory.read('cgroup.procs')?.split('\n').filter(Boolean).map(Number),
  };
};

/** Prefixes of I/O files, which differ between I/O schedulers. The first prefix whose file lists devices is used. */
const BLKIO_FILES = ['blkio.bfq.', 'blkio.', 'blkio.throttle.'].map((prefix) => [prefix, '_recursive']);

export function readIoV1(blkio: CgroupDirectory): readonly DeviceUsage[] | undefined {
  let exists = false;
  for (const [prefix = '', suffix = ''] of [...BLKIO_FILES, ['blkio.throttle.', '']]) {
    const [bytes, operations] = [`${prefix}io_service_bytes${suffix}`, `${prefix}io_serviced${suffix}`];
    const servicedText = blkio.has(operations) ? blkio.read(operations) : undefined;
    exists ||= servicedText !== undefined;
    const devices = /^\d/.test(servicedText ?? '') ? parseBlkio(blkio.read(bytes) ?? '', servicedText ?? '') : [];
    if (devices.length > 0) return devices;
  }
  return exists ? [] : undefined;
}
