import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { nodeResources } from '../../../node/config/compile/nodeResources.ts';
import type { KubeletConfiguration } from '../../../node/config/files/kubeletConfiguration.ts';
import { settingValues } from '../../../node/config/settings/settingValues.ts';
import { canPodsSwap, machineCapacity, readCgroupFacts, swapCapacity } from '../../../node/host/cgroups.ts';

test.each([
  [110, 0, 110],
  [110, 10, 40],
  [30, 10, 30],
])('a node of four cores with at most %d pods and %d per core has a capacity of %d', (maxPods, podsPerCore, pods) => {
  const facts = { cpuCount: 4, memoryBytes: 1_000 };
  expect(machineCapacity({ maxPods, podsPerCore }, facts)).toEqual({ cpuMillis: 4_000, memoryBytes: 1_000, pods });
});

const root = await mkdtemp(join(tmpdir(), 'statelet-memory-'));
afterAll(() => rm(root, { recursive: true }));

describe('C25: the cgroup facts of a node', () => {
  const parts = { root: '/nowhere', controllers: ['memory'] };
  const [v1, v2] = [[{ ...parts, version: 'v1' }], [{ ...parts, version: 'v2' }]] as const;
  const factsOf = (file: Partial<KubeletConfiguration> = {}, hierarchies: Parameters<typeof readCgroupFacts>[1] = v2) =>
    readCgroupFacts(nodeResources(settingValues({ flags: {}, file })), hierarchies);

  test('include group OOM kills on v2, a CPU quota and no swap by default', async () => {
    const facts = { perQos: true, cfsQuota: true, cfsPeriod: 100_000, podPids: -1, countsSwap: false };
    const given = await factsOf();
    expect(given).toMatchObject({ ...facts, version: 'v2', killsWhole: true });
    expect(given).not.toHaveProperty('swapBytes');
    expect(await factsOf({}, v1)).toMatchObject({ ...facts, version: 'v1', killsWhole: false });
  });

  test('include the configured process limit, OOM kill mode, CPU quota and swap', async () => {
    expect(await factsOf({ podPidsLimit: 64 })).toMatchObject({ podPids: 64 });
    expect(await factsOf({ singleProcessOOMKill: true })).toMatchObject({ killsWhole: false });
    expect(await factsOf({ singleProcessOOMKill: false })).toMatchObject({ killsWhole: true });
    expect(await factsOf({ cpuCFSQuota: false, cpuCFSQuotaPeriod: 10 })).toMatchObject({
      cfsQuota: false,
      cfsPeriod: 10_000,
    });
    expect(await factsOf({ cgroupsPerQOS: false })).toMatchObject({ perQos: false });
    const swapBytes = swapCapacity(await readFile('/proc/meminfo', 'utf8'));
    expect(await factsOf({ memorySwap: { swapBehavior: 'LimitedSwap' } })).toMatchObject({ swapBytes });
    expect(await factsOf({ memorySwap: { swapBehavior: 'NoSwap' } })).not.toHaveProperty('swapBytes');
  });

  test('allow swap only on v2, if it is configured and the kernel accounts for it', async () => {
    const facts = { ...(await factsOf({ memorySwap: { swapBehavior: 'LimitedSwap' } })), countsSwap: true };
    const { swapBytes: _, ...without } = facts;
    const nodes = [facts, without, { ...facts, version: 'v1' as const }, { ...facts, countsSwap: false }];
    expect(nodes.map(canPodsSwap)).toEqual([true, false, false, false]);
  });

  test('contain the swap of the host in bytes, or 0 if the host reports none', () => {
    expect(swapCapacity('MemTotal:        8000 kB\nSwapTotal:       2048 kB\nSwapFree:        1024 kB\n')).toBe(
      2 ** 21,
    );
    expect(swapCapacity('MemTotal:        8000 kB\n')).toBe(0);
  });

  test('contain whether the kernel accounts for swap, according to its files', async () => {
    const hierarchies = [{ ...parts, root, version: 'v1' as const }];
    expect(await factsOf({}, hierarchies)).toMatchObject({ countsSwap: false });
    await writeFile(join(root, 'memory.memsw.limit_in_bytes'), '0');
    expect(await factsOf({}, hierarchies)).toMatchObject({ countsSwap: true });
    expect(await factsOf({}, [])).toMatchObject({ countsSwap: false });
  });
});
