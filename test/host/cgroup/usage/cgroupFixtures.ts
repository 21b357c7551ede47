/**
 * Cgroup files of real kernels, in plain directories: v1 from a hybrid host with Linux 6.1, v2 from a host with 6.8.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Hierarchy } from '../../../../host/cgroup/hierarchies.ts';

const V1_CONTROLLERS = [['cpu'], ['cpuacct'], ['memory'], ['pids'], ['blkio']];

/** Returns one hierarchy per controller, and a v2 hierarchy without controllers. */
export const v1Hierarchies = (root: string): readonly Hierarchy[] => [
  { root: join(root, 'unified'), version: 'v2', controllers: [] },
  ...V1_CONTROLLERS.map((controllers) => ({ root: join(root, ...controllers), version: 'v1' as const, controllers })),
];

export const v2Hierarchies = (root: string): readonly Hierarchy[] => [
  { root, version: 'v2', controllers: ['cpuset', 'cpu', 'io', 'memory', 'hugetlb', 'pids', 'rdma', 'misc'] },
];

const V1_MEMORY_STAT = `cache 4096
rss 8192
mapped_file 0
pgfault 1500
pgmajfault 3
inactive_file 0
hierarchical_memory_limit 67108864
total_cache 5242880
total_rss 3145728
total_mapped_file 1048576
total_swap 65536
total_pgfault 2500
total_pgmajfault 5
total_inactive_anon 0
total_active_anon 3145728
total_inactive_file 2097152
total_active_file 1572864
`;

export const V1_CONTAINER: Readonly<Record<string, string>> = {
  'cpu/cpu.stat': 'nr_periods 120\nnr_throttled 7\nthrottled_time 350000000\nnr_bursts 0\nburst_time 0\n',
  'cpu/cpu.shares': '512\n',
  'cpu/cpu.cfs_quota_us': '50000\n',
  'cpu/cpu.cfs_period_us': '100000\n',
  'cpuacct/cpuacct.usage': '1234567890\n',
  'cpuacct/cpuacct.stat': 'user 100\nsystem 21\n',
  'memory/memory.stat': V1_MEMORY_STAT,
  'memory/memory.usage_in_bytes': '9437184\n',
  'memory/memory.max_usage_in_bytes': '10485760\n',
  'memory/memory.kmem.usage_in_bytes': '524288\n',
  'memory/memory.failcnt': '4\n',
  'memory/memory.oom_control': 'oom_kill_disable 0\nunder_oom 0\noom_kill 2\n',
  'memory/memory.limit_in_bytes': '67108864\n',
  'memory/memory.memsw.limit_in_bytes': '67108864\n',
  'memory/memory.soft_limit_in_bytes': '9223372036854771712\n',
  'pids/pids.current': '5\n',
  'pids/pids.max': 'max\n',
  'pids/cgroup.procs': '4711\n4712\n',
  'blkio/blkio.bfq.io_service_bytes_recursive': 'Total 0\n',
  'blkio/blkio.bfq.io_serviced_recursive': 'Total 0\n',
  'blkio/blkio.throttle.io_service_bytes_recursive':
    '254:0 Read 81920\n254:0 Write 4096\n254:0 Sync 86016\n254:0 Async 0\n254:0 Discard 0\n254:0 Total 86016\nTotal 86016\n',
  'blkio/blkio.throttle.io_serviced_recursive':
    '254:0 Read 20\n254:0 Write 1\n254:0 Sync 21\n254:0 Async 0\n254:0 Discard 0\n254:0 Total 21\nTotal 21\n',
};

/** The root cgroup of v1 does not count threads. */
export const V1_ROOT: Readonly<Record<string, string>> = {
  ...without(V1_CONTAINER, ['pids/pids.current', 'pids/pids.max']),
  'cpu/cpu.cfs_quota_us': '-1\n',
};

const V2_MEMORY_STAT = `anon 3145728
file 5242880
kernel 524288
kernel_stack 16384
file_mapped 1048576
file_dirty 0
inactive_anon 3100000
active_anon 45728
inactive_file 2097152
active_file 1572864
pgfault 2500
pgmajfault 5
`;

const pressure = (some: number, full: number) =>
  `some avg10=1.50 avg60=0.75 avg300=0.10 total=${some}\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=${full}\n`;

export const V2_CONTAINER: Readonly<Record<string, string>> = {
  'cpu.stat': `usage_usec 1234567
user_usec 1000000
system_usec 234567
nr_periods 120
nr_throttled 7
throttled_usec 350000
nr_bursts 3
burst_usec 42
`,
  'cpu.max': '50000 100000\n',
  'cpu.weight': '20\n',
  'memory.stat': V2_MEMORY_STAT,
  'memory.current': '9437184\n',
  'memory.peak': '10485760\n',
  'memory.swap.current': '65536\n',
  'memory.swap.max': 'max\n',
  'memory.max': '67108864\n',
  'memory.min': '0\n',
  'memory.events.local': 'low 0\nhigh 0\nmax 31\noom 2\noom_kill 3\noom_group_kill 1\n',
  'pids.current': '5\n',
  'pids.max': '4096\n',
  'cgroup.procs': '4711\n4712\n',
  'io.stat': '254:0 rbytes=81920 wbytes=4096 rios=20 wios=1 dbytes=0 dios=0 cost.usage=1500 cost.wait=20\n7:0 \n',
  'cpu.pressure': pressure(5_000, 2_000),
  'memory.pressure': pressure(60, 50),
  'io.pressure': pressure(7, 6),
};

/** The root cgroup of v2 has no limits, and no files for the current use of memory and processes. */
export const V2_ROOT: Readonly<Record<string, string>> = {
  ...without(V2_CONTAINER, [
    'cpu.max',
    'cpu.weight',
    'memory.current',
    'memory.peak',
    'memory.swap.current',
    'memory.swap.max',
    'memory.max',
    'memory.min',
    'memory.events.local',
    'pids.current',
    'pids.max',
  ]),
  'cpu.stat': 'usage_usec 99000000\nuser_usec 66000000\nsystem_usec 33000000\n',
};

/**
 * Writes the files of a cgroup below the root of their hierarchies. On v1, the first part of each name is the
 * hierarchy.
 */
export async function writeCgroup(
  root: string,
  path: string,
  files: Readonly<Record<string, string>>,
  version: Hierarchy['version'],
): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    const [hierarchy = '', ...rest] = version === 'v1' ? name.split('/') : ['', name];
    const file = join(root, hierarchy, path, ...rest);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  }
}

export function without(files: Readonly<Record<string, string>>, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(Object.entries(files).filter(([name]) => !names.includes(name)));
}
