/** Usage of a cgroup on v1 and v2, read from the files of real kernels and from this host. */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { hostCgroupfs } from '../../../../host/cgroup/cgroupfs.ts';
import { readHierarchies } from '../../../../host/cgroup/hierarchies.ts';
import type { CgroupUsage, UsagePart } from '../../../../host/cgroup/usage/cgroupUsage.ts';
import { createUsageReader } from '../../../../host/cgroup/usage/readUsage.ts';
import {
  V1_CONTAINER,
  V1_ROOT,
  V2_CONTAINER,
  V2_ROOT,
  v1Hierarchies,
  v2Hierarchies,
  without,
  writeCgroup,
} from './cgroupFixtures.ts';

let root = '';
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'statelet-usage-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

const POD = 'kubepods/burstable/pod1/main';
const now = () => 1_000;

async function v1(files: Readonly<Record<string, string>>, path = POD, parts?: readonly UsagePart[]) {
  await writeCgroup(root, path, files, 'v1');
  return createUsageReader({ hierarchies: v1Hierarchies(root), now })(path, parts);
}

async function v2(files: Readonly<Record<string, string>>, path = POD): Promise<CgroupUsage | undefined> {
  await writeCgroup(root, path, files, 'v2');
  return createUsageReader({ hierarchies: v2Hierarchies(root), now })(path);
}

/** Values that both versions report alike. */
const MEMORY = {
  usage: 9_437_184,
  max: 10_485_760,
  workingSet: 7_340_032,
  rss: 3_145_728,
  cache: 5_242_880,
  mappedFile: 1_048_576,
  activeFile: 1_572_864,
  inactiveFile: 2_097_152,
  swap: 65_536,
  oomEvents: 2,
};

describe('v1', () => {
  test('reads each controller from its own hierarchy', async () => {
    expect(await v1(V1_CONTAINER)).toEqual({
      readAt: 1_000,
      cpu: {
        usageNs: 1_234_567_890,
        userNs: 1_000_000_000,
        systemNs: 210_000_000,
        periods: 120,
        throttledPeriods: 7,
        throttledNs: 350_000_000,
        quotaUs: 50_000,
        periodUs: 100_000,
        shares: 512,
      },
      memory: {
        ...MEMORY,
        kernel: 524_288,
        failcnt: 4,
        pageFaults: 1_500,
        majorPageFaults: 3,
        limits: { limit: 67_108_864, swap: 67_108_864 },
      },
      pids: { threads: 5, processes: [4711, 4712] },
      io: [
        {
          major: 254,
          minor: 0,
          bytes: new Map(
            Object.entries({ Read: 81_920, Write: 4_096, Sync: 86_016, Async: 0, Discard: 0, Total: 86_016 }),
          ),
          operations: new Map(Object.entries({ Read: 20, Write: 1, Sync: 21, Async: 0, Discard: 0, Total: 21 })),
        },
      ],
    });
  });

  test('the root has neither a quota nor a thread count', async () => {
    const usage = await v1(V1_ROOT, '');
    expect(usage?.cpu).toMatchObject({ shares: 512, usageNs: 1_234_567_890 });
    expect(usage?.cpu?.quotaUs).toBeUndefined();
    expect(usage?.pids).toEqual({ processes: [4711, 4712] });
  });

  test('uses the first blkio files that list a device, for any I/O scheduler', async () => {
    const bfq = 'blkio/blkio.bfq.io_serviced_recursive';
    const usage = await v1({ ...V1_CONTAINER, [bfq]: '254:0 Read 3\nTotal 3\n' });
    expect(usage?.io?.map(({ operations }) => operations.get('Read'))).toEqual([3]);
    const none = without(
      V1_CONTAINER,
      Object.keys(V1_CONTAINER).filter((name) => name.startsWith('blkio/')),
    );
    expect((await v1({ ...none, 'blkio/cgroup.procs': '' }, 'other'))?.io).toBeUndefined();
  });

  test('missing files are undefined: an accounting hierarchy, a swap limit', async () => {
    const files = Object.keys(V1_CONTAINER).filter((name) => /^cpuacct|memsw/.test(name));
    const usage = await v1(without(V1_CONTAINER, files));
    expect(usage?.cpu).toMatchObject({ periods: 120 });
    expect(usage?.cpu?.usageNs).toBeUndefined();
    expect(usage?.memory?.limits).toEqual({ limit: 67_108_864 });
  });

  test('the working set is never negative', async () => {
    const usage = await v1({ ...V1_CONTAINER, 'memory/memory.usage_in_bytes': '1024\n' });
    expect(usage?.memory?.workingSet).toBe(0);
  });

  test('reads only the requested parts', async () => {
    const usage = await v1(V1_CONTAINER, POD, ['pids']);
    expect(usage).toEqual({ readAt: 1_000, pids: { threads: 5, processes: [4711, 4712] } });
  });

  test('reads only two files for the working set', async () => {
    await writeCgroup(root, POD, V1_CONTAINER, 'v1');
    const files: string[] = [];
    const read = (file: string) => {
      files.push(basename(file));
      return hostCgroupfs.read(file);
    };
    const reader = createUsageReader({
      hierarchies: v1Hierarchies(root),
      cgroupfs: { ...hostCgroupfs, read },
      now,
    });
    const { usage, inactiveFile, workingSet } = reader(POD)?.memory ?? {};
    files.length = 0;
    expect(reader(POD, ['workingSet'])).toEqual({ readAt: 1_000, memory: { usage, inactiveFile, workingSet } });
    expect(files).toEqual(['memory.stat', 'memory.usage_in_bytes']);
  });
});

describe('v2', () => {
  test('reads all parts from one hierarchy, in microseconds, with the pressure', async () => {
    const some = { avg10: 1.5, avg60: 0.75, avg300: 0.1 };
    const full = { avg10: 0, avg60: 0, avg300: 0 };
    const pressure = (someUs: number, fullUs: number) => ({
      some: { ...some, totalUs: someUs },
      full: { ...full, totalUs: fullUs },
    });
    expect(await v2(V2_CONTAINER)).toEqual({
      readAt: 1_000,
      cpu: {
        usageNs: 1_234_567_000,
        userNs: 1_000_000_000,
        systemNs: 234_567_000,
        periods: 120,
        throttledPeriods: 7,
        throttledNs: 350_000_000,
        bursts: 3,
        burstNs: 42_000,
        quotaUs: 50_000,
        periodUs: 100_000,
        shares: 500,
      },
      memory: {
        ...MEMORY,
        pageFaults: 2_500,
        majorPageFaults: 5,
        limits: { limit: 67_108_864, reservation: 0 },
      },
      pids: { threads: 5, threadsLimit: 4_096, processes: [4711, 4712] },
      io: [
        {
          major: 254,
          minor: 0,
          bytes: new Map([
            ['Read', 81_920],
            ['Write', 4_096],
          ]),
          operations: new Map([
            ['Read', 20],
            ['Write', 1],
          ]),
          costMicros: new Map([
            ['cost.usage', 1_500],
            ['cost.wait', 20],
          ]),
        },
      ],
      pressure: { cpu: pressure(5_000, 2_000), memory: pressure(60, 50), io: pressure(7, 6) },
    });
  });

  test('the root has the usage of its pages, the swap of the host, and no limits', async () => {
    await writeCgroup(root, '', V2_ROOT, 'v2');
    const meminfo = 'MemTotal: 8000 kB\nSwapTotal:         4096 kB\nSwapFree:          1024 kB\n';
    const read = (file: string) => (file === '/proc/meminfo' ? meminfo : hostCgroupfs.read(file));
    const cgroupfs = { ...hostCgroupfs, read };
    const usage = createUsageReader({ hierarchies: v2Hierarchies(root), cgroupfs, now })('');
    expect(usage?.cpu).toEqual({ usageNs: 99_000_000_000, userNs: 66_000_000_000, systemNs: 33_000_000_000 });
    expect(usage?.memory).toMatchObject({ usage: 8_388_608, workingSet: 6_291_456, swap: 3 * 2 ** 20 });
    expect(usage?.memory?.limits).toBeUndefined();
    expect(usage?.pids).toEqual({ processes: [4711, 4712] });
  });

  test('reads a cgroup without a quota on a kernel without swap accounting and pressure', async () => {
    const older = without(V2_CONTAINER, ['memory.swap.current', 'memory.swap.max', 'memory.peak', 'cpu.pressure']);
    const usage = await v2({ ...older, 'cpu.max': 'max 100000\n', 'memory.max': 'max\n' });
    expect(usage?.cpu).toMatchObject({ quotaUs: undefined, periodUs: 100_000 });
    expect(usage?.memory).toMatchObject({ swap: undefined, max: undefined });
    expect(usage?.memory?.limits).toEqual({ reservation: 0 });
    expect(usage?.pressure).toMatchObject({ cpu: undefined, memory: { some: { totalUs: 60 } } });
  });

  test('converts the smallest and the largest weight to shares', async () => {
    expect((await v2({ ...V2_CONTAINER, 'cpu.weight': '1\n' }, 'a'))?.cpu?.shares).toBe(2);
    expect((await v2({ ...V2_CONTAINER, 'cpu.weight': '10000\n' }, 'b'))?.cpu?.shares).toBe(262_144);
  });
});

test('a missing or empty cgroup has no usage', async () => {
  for (const hierarchies of [v1Hierarchies(root), v2Hierarchies(root), []]) {
    expect(createUsageReader({ hierarchies, now })('kubepods/gone')).toBeUndefined();
  }
  await mkdir(join(root, 'kubepods'));
  expect(createUsageReader({ hierarchies: v2Hierarchies(root), now })('kubepods')).toMatchObject({ cpu: undefined });
});

test('on this host, the root uses CPU and memory', async () => {
  const usage = createUsageReader({ hierarchies: await readHierarchies(), now })('');
  expect(usage?.cpu?.usageNs).toBeGreaterThan(0);
  expect(usage?.cpu?.userNs).toBeGreaterThan(0);
  expect(usage?.memory?.workingSet).toBeGreaterThan(0);
  expect(usage?.memory?.workingSet).toBeLessThanOrEqual(usage?.memory?.usage ?? 0);
  expect(usage?.pids?.processes?.length).toBeGreaterThan(0);
});

test('limits are read once a minute, usage each time', async () => {
  await writeCgroup(root, POD, V1_CONTAINER, 'v1');
  let [time, read] = [1_000, [] as string[]];
  const cgroupfs = {
    ...hostCgroupfs,
    read: (file: string) => {
      read.push(file);
      return hostCgroupfs.read(file);
    },
  };
  const reader = createUsageReader({ hierarchies: v1Hierarchies(root), cgroupfs, now: () => time });
  const first = reader(POD);
  const limits = read.filter((file) => /shares|cfs|limit/.test(file)).length;
  expect(limits).toBeGreaterThan(4);
  read = [];
  expect(reader(POD)).toEqual(first);
  expect(read.filter((file) => /shares|cfs|limit/.test(file))).toEqual([]);
  expect(read.length).toBeGreaterThan(8);
  await writeCgroup(root, POD, { ...V1_CONTAINER, 'cpu/cpu.shares': '4' }, 'v1');
  time += 60_000;
  expect(reader(POD)).toMatchObject({ cpu: { shares: 4 } });
  await writeCgroup(root, POD, { ...V1_CONTAINER, 'cpu/cpu.shares': '5' }, 'v1');
  expect(reader(POD, ['cpu'], { isLimitCurrent: true })).toMatchObject({ cpu: { shares: 5 } });
});

test('a removed cgroup is not reported from the cache', async () => {
  await writeCgroup(root, POD, V1_CONTAINER, 'v1');
  const reader = createUsageReader({ hierarchies: v1Hierarchies(root), now });
  expect(reader(POD)).toBeDefined();
  await rm(root, { recursive: true });
  expect(reader(POD)).toBeUndefined();
});
