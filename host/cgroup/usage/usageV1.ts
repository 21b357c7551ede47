/** The files of cgroup v1, where each controller has a hierarchy of its own (`fs/*.go` of opencontainers/cgroups). */
import type { CpuUsage, DeviceUsage, MemoryUsage, PidsUsage } from './cgroupUsage.ts';
import { parseBlkio } from './devices.ts';
import { fieldIn, limitIn, numberIn, times } from './fields.ts';

/** A cgroup's directory in one hierarchy. */
export interface CgroupDirectory {
  /** What a file of it has; undefined where there is none. */
  read(file: string): string | undefined;
  /** Whether it has such a file: sooner known than that it cannot be read. */
  has(file: string): boolean;
  /** What a file has that changes only when somebody writes to it; it may be a minute old. */
  setting(file: string): string | undefined;
}

/** Nanoseconds of a tick, on whatever machine. */
const TICK_NS = 10_000_000;

export const accountedV1 = (cpuacct: CgroupDirectory): Pick<CpuUsage, 'usageNs' | 'userNs' | 'systemNs'> => {
  const stat = cpuacct.read('cpuacct.stat');
  return {
    usageNs: numberIn(cpuacct.read('cpuacct.usage')),
    userNs: times(fieldIn(stat, 'user'), TICK_NS),
    systemNs: times(fieldIn(stat, 'system'), TICK_NS),
  };
};

export function scheduledV1(cpu: CgroupDirectory): CpuUsage {
  const quotaUs = numberIn(cpu.setting('cpu.cfs_quota_us'));
  // Without a quota nothing is counted.
  const stat = quotaUs === undefined ? undefined : cpu.read('cpu.stat');
  return {
    quotaUs,
    periods: fieldIn(stat, 'nr_periods'),
    throttledPeriods: fieldIn(stat, 'nr_throttled'),
    throttledNs: fieldIn(stat, 'throttled_time'),
    periodUs: numberIn(cpu.setting('cpu.cfs_period_us')),
    shares: numberIn(cpu.setting('cpu.shares')),
  };
}

export function memoryV1(memory: CgroupDirectory): MemoryUsage | undefined {
  const stat = memory.read('memory.stat');
  if (stat === undefined) return undefined;
  const usage = numberIn(memory.read('memory.usage_in_bytes'));
  const inactiveFile = fieldIn(stat, 'total_inactive_file');
  return {
    usage,
    inactiveFile,
    workingSet: usage === undefined ? undefined : Math.max(0, usage - (inactiveFile ?? 0)),
    max: numberIn(memory.read('memory.max_usage_in_bytes')),
    rss: fieldIn(stat, 'total_rss'),
    cache: fieldIn(stat, 'total_cache'),
    mappedFile: fieldIn(stat, 'total_mapped_file'),
    activeFile: fieldIn(stat, 'total_active_file'),
    swap: fieldIn(stat, 'total_swap'),
    kernel: numberIn(memory.read('memory.kmem.usage_in_bytes')),
    failcnt: numberIn(memory.read('memory.failcnt')),
    // Those of the cgroup alone, as cAdvisor counts them.
    pageFaults: fieldIn(stat, 'pgfault'),
    majorPageFaults: fieldIn(stat, 'pgmajfault'),
    oomEvents: fieldIn(memory.read('memory.oom_control'), 'oom_kill'),
    limits: {
      limit: limitIn(memory.setting('memory.limit_in_bytes')),
      swap: memory.has(SWAP_LIMIT) ? limitIn(memory.setting(SWAP_LIMIT)) : undefined,
      reservation: limitIn(memory.setting('memory.soft_limit_in_bytes')),
    },
  };
}

/** Not there in a kernel that does not count swap. */
const SWAP_LIMIT = 'memory.memsw.limit_in_bytes';

/** On v2 these files have the same names. */
export const pids = (directory: CgroupDirectory): PidsUsage => {
  // At the root there are none.
  const isCounted = directory.has('pids.current');
  return {
    threads: isCounted ? numberIn(directory.read('pids.current')) : undefined,
    threadsLimit: isCounted ? limitIn(directory.setting('pids.max')) : undefined,
    processes: directory.read('cgroup.procs')?.split('\n').filter(Boolean).map(Number),
  };
};

/** The first of them that has devices: the others belong to other schedulers of requests. */
const BLKIO = ['blkio.bfq.', 'blkio.', 'blkio.throttle.'].map((prefix) => [prefix, '_recursive']);

export function ioV1(blkio: CgroupDirectory): readonly DeviceUsage[] | undefined {
  let isThere = false;
  for (const [prefix = '', suffix = ''] of [...BLKIO, ['blkio.throttle.', '']]) {
    const [bytes, operations] = [`${prefix}io_service_bytes${suffix}`, `${prefix}io_serviced${suffix}`];
    const counted = blkio.has(operations) ? blkio.read(operations) : undefined;
    isThere ||= counted !== undefined;
    const devices = /^\d/.test(counted ?? '') ? parseBlkio(blkio.read(bytes) ?? '', counted ?? '') : [];
    if (devices.length > 0) return devices;
  }
  return isThere ? [] : undefined;
}
