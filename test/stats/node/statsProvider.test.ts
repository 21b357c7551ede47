import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { createLayout } from '../../../host/pods/layout.ts';
import type { CollectorOptions } from '../../../stats/node/collector.ts';
import { createHostFacts } from '../../../stats/node/hostFacts.ts';
import { StatsProvider, type StatsProviderOptions } from '../../../stats/node/statsProvider.ts';
import { type Summary, statsTime } from '../../../stats/node/summary.ts';
import type { PodVolumes } from '../../../stats/pods/podFiles.ts';
import { StatsWorld } from '../support.ts';

const { signal } = new AbortController();
let world: StatsWorld;

afterEach(() => world.close());

const BOOT = Date.UTC(2025, 11, 31);
const MIB = 2 ** 20;
const TOTAL = 100 * MIB;
const NONE: PodVolumes = { allVolumes: [], localVolumes: [] };

async function given(
  version: 'v1' | 'v2' = 'v2',
  more: Partial<StatsProviderOptions> = {},
  collects: Partial<CollectorOptions> = {},
) {
  world = new StatsWorld(version);
  await world.node();
  const { clock, cri } = world.simulation;
  const hostFacts = { ...createHostFacts(world.hierarchies), bootTime: BOOT, memoryTotals: { memory: TOTAL, swap: 0 } };
  const layout = createLayout({ rootDir: join(world.root, 'kubelet'), podLogsDir: join(world.root, 'logs') });
  const provider = new StatsProvider({
    nodeName: 'node-1',
    collector: world.collector(collects),
    cri,
    hostFacts,
    layout,
    rootDirectory: '/',
    volumes: { volumesOf: () => NONE, refresh: async () => {} },
    clock,
    signal: world.end.signal,
    wait: (ms) => clock.advance(ms),
    ...more,
  });
  return { provider, layout };
}

/** Returns the summary as its readers parse it. */
const read = (summary: Summary) => JSON.parse(JSON.stringify(summary));
const fileSystem = (mountpoint: string, bytes: number) => ({
  timestamp: 1_000_000n,
  fsId: { mountpoint },
  usedBytes: { value: BigInt(bytes) },
  inodesUsed: { value: 2n },
});
const keysOf = (value: object) => Object.keys(value).join(' ');
const ZEROS = { total: 0, avg10: 0, avg60: 0, avg300: 0 };

test('C43: a summary has the fields of a kubelet in the same order', async () => {
  const { provider, layout } = await given();
  const { container } = await world.pod('a');
  world.procfs.set('/proc/77/net/dev', 'eth0: 1 1 2 0 0 0 0 0 3 1 4 0 0 0 0 0\n');
  world.procfs.set('/proc/1/net/dev', 'ens3: 1 1 2 0 0 0 0 0 3 1 4 0 0 0 0 0\n');
  mkdirSync(layout.containerLogDir({ uid: 'uid-of-a', name: 'a', namespace: 'default' }, 'main'), { recursive: true });
  const { node, pods } = read(await provider.fullSummary(signal));
  const [pod] = pods;
  expect(keysOf(node)).toBe('nodeName systemContainers startTime cpu memory io network fs runtime rlimit swap');
  expect(keysOf(pod)).toBe('podRef startTime containers cpu memory io network ephemeral-storage process_stats swap');
  expect(keysOf(pod.containers[0])).toBe('name startTime cpu memory io rootfs logs swap');
  expect(keysOf(pod.cpu)).toBe('time usageNanoCores usageCoreNanoSeconds psi');
  expect(keysOf(pod.memory)).toBe(
    'time availableBytes usageBytes workingSetBytes rssBytes pageFaults majorPageFaults psi',
  );
  expect(keysOf(pod.containers[0].logs)).toBe(
    'time availableBytes capacityBytes usedBytes inodesFree inodes inodesUsed',
  );
  expect(node).toMatchObject({
    nodeName: 'node-1',
    startTime: '2025-12-31T00:00:00Z',
    systemContainers: [{ name: 'pods' }],
  });
  expect(pod.podRef).toEqual({ name: 'a', namespace: 'default', uid: 'uid-of-a' });
  const own = { rxBytes: 1, rxErrors: 2, txBytes: 3, txErrors: 4 };
  expect(pod.network).toEqual({ time: pod.cpu.time, name: 'eth0', ...own, interfaces: [{ name: 'eth0', ...own }] });
  // No interface with a different name is the default one.
  expect(node.network).toEqual({ time: node.cpu.time, name: '', interfaces: [{ name: 'ens3', ...own }] });
  expect(pod.process_stats).toEqual({ process_count: 2 });
  expect(world.simulation.runtime.container(container)).toBeDefined();
});

test.each(['v1', 'v2'] as const)('the summary contains CPU and memory usage from cgroup %s', async (version) => {
  const { provider } = await given(version);
  await world.pod('a');
  const { node, pods } = read(await provider.fullSummary(signal));
  const { cpu, memory, swap, io } = pods[0].containers[0];
  const ns = version === 'v1' ? 1_234_567_890 : 1_234_567_000;
  expect(cpu).toMatchObject({ usageCoreNanoSeconds: ns, usageNanoCores: 0 });
  expect(memory).toMatchObject({
    usageBytes: 9 * MIB,
    workingSetBytes: 7 * MIB,
    availableBytes: 57 * MIB,
    rssBytes: 3 * MIB,
  });
  const faults =
    version === 'v1' ? { pageFaults: 1_500, majorPageFaults: 3 } : { pageFaults: 2_500, majorPageFaults: 5 };
  expect(memory).toMatchObject(faults);
  expect(swap).toMatchObject({ swapUsageBytes: 65_536 });
  const waited = { total: 5_000, avg10: 1.5, avg60: 0.75, avg300: 0.1 };
  expect(cpu.psi).toEqual(version === 'v1' ? undefined : { full: { ...ZEROS, total: 2_000 }, some: waited });
  expect(io.psi?.some.total).toBe(version === 'v1' ? undefined : 7);
  expect(node.memory.availableBytes).toBe(TOTAL - node.memory.workingSetBytes);
  expect(node.swap.swapAvailableBytes).toBe(0);
});

test('C43: no available amount is reported for a resource without a limit', async () => {
  const { provider } = await given();
  await world.pod('a', { 'memory.max': 'max\n' });
  const { pods } = read(await provider.fullSummary(signal));
  expect(pods[0].memory).not.toHaveProperty('availableBytes');
  expect(pods[0].swap).not.toHaveProperty('swapAvailableBytes');
});

test('C43: the ephemeral storage of a pod includes layers, logs, its hosts file, and volumes on the local disk', async () => {
  const local = { name: 'data', time: statsTime(0), usedBytes: 1_000_000, inodesUsed: 10 };
  const volumes = { allVolumes: [local, { ...local, name: 'memory' }], localVolumes: [local] };
  const { provider, layout } = await given('v2', { volumes: { volumesOf: () => volumes, refresh: async () => {} } });
  await world.pod('a');
  const pod = { uid: 'uid-of-a', name: 'a', namespace: 'default' };
  const logs = layout.containerLogDir(pod, 'main');
  mkdirSync(join(logs, 'inner'), { recursive: true });
  mkdirSync(layout.podDir(pod.uid), { recursive: true });
  for (const file of ['0.log', '1.log.gz', 'inner/not'].map((name) => join(logs, name)))
    writeFileSync(file, Buffer.alloc(8_192, 1));
  writeFileSync(join(layout.podLogDir(pod), 'note'), Buffer.alloc(4_096, 1));
  writeFileSync(layout.hostsFile(pod.uid), 'localhost');
  const { node, pods } = read(await provider.fullSummary(signal));
  const [found] = pods;
  expect(found.containers[0].rootfs).toMatchObject({ usedBytes: 32_768, inodesUsed: 8 });
  expect(found.containers[0].logs).toMatchObject({
    usedBytes: 16_384,
    inodesUsed: 2,
    capacityBytes: node.fs.capacityBytes,
  });
  expect(found.volume.map(({ name }: { name: string }) => name)).toEqual(['data', 'memory']);
  expect(found['ephemeral-storage']).toMatchObject({
    usedBytes: 32_768 + 16_384 + 4_096 + 4_096 + 1_000_000,
    inodesUsed: 8 + 2 + 1 + 1 + 10,
  });
  expect(node.runtime.imageFs).toMatchObject({ usedBytes: expect.any(Number) });
  expect(node.runtime.containerFs).toEqual(node.runtime.imageFs);
});

test('C43: the container file system is the image file system unless the runtime reports a different one', async () => {
  const { provider } = await given('v2', {
    cri: {
      listContainerStats: async () => ({ stats: [] }),
      imageFsInfo: async () => ({
        imageFilesystems: [fileSystem('/', 1_000)],
        containerFilesystems: [fileSystem('/dev', 7)],
      }),
    },
  });
  const { fs, runtime } = read(await provider.fullSummary(signal)).node;
  expect(runtime.imageFs).toMatchObject({ usedBytes: 1_000, inodesUsed: 2, capacityBytes: fs.capacityBytes });
  expect(runtime.containerFs).toMatchObject({ usedBytes: 7, inodesUsed: 2, capacityBytes: expect.any(Number) });
  expect(runtime.containerFs.capacityBytes).not.toBe(fs.capacityBytes);
});

test('C43: a summary of CPU and memory has no other fields, and queries neither the disk nor the runtime for more', async () => {
  const { provider } = await given();
  await world.pod('a');
  const { summary, failure } = await provider.cpuAndMemory(signal);
  const { node, pods } = read(summary);
  expect(keysOf(node)).toBe('nodeName systemContainers startTime cpu memory swap');
  expect(keysOf(pods[0])).toBe('podRef startTime containers cpu memory swap');
  expect([keysOf(pods[0].containers[0]), keysOf(node.systemContainers[0])]).toEqual([
    'name startTime cpu memory swap',
    'name startTime cpu memory swap',
  ]);
  expect(failure).toBeUndefined();
  const calls = new Set(world.simulation.runtime.calls.map(({ call }) => call));
  expect([calls.has('listContainerStats'), calls.has('imageFsInfo')]).toEqual([false, false]);
});

test('the usage for top pods includes a CPU rate on the first request', async () => {
  let path = '';
  const wait = async (ms: number) => {
    await world.simulation.clock.advance(ms);
    await world.cgroup(path, { 'cpu.stat': `usage_usec ${1_234_567 + ms * 500}\nuser_usec 0\nsystem_usec 0\n` });
  };
  const { provider } = await given('v2', { wait });
  const { container } = await world.pod('a');
  path = `kubepods/burstable/poduid-of-a/${container}`;
  const [pod] = read(await provider.usageWithRates(signal)).pods;
  expect(pod.containers[0].cpu).toMatchObject({ usageNanoCores: 500_000_000 });
  expect(keysOf(pod)).toBe('podRef startTime containers cpu memory swap');
});

test('C43: the agent is reported as the system container kubelet with its own start time', async () => {
  const { provider } = await given('v2', {}, { findAgentCgroup: () => 'kubepods' });
  const startTime = new Date(world.simulation.clock.now()).toISOString().replace('.000', '');
  const { systemContainers } = read(await provider.fullSummary(signal)).node;
  expect(systemContainers).toMatchObject([
    { name: 'pods' },
    { name: 'kubelet', startTime, cpu: {}, memory: {}, io: {}, swap: {} },
  ]);
});

test('C43: without cgroups, a pod has the usage from the runtime or the sum of its containers', async () => {
  const { provider } = await given('v2', {}, { findCgroups: undefined });
  const { container } = await world.pod('a');
  await world.simulation.clock.advance(10_000);
  world.simulation.runtime.setMemoryUsage(container, 5_000);
  const told = read(await provider.fullSummary(signal));
  expect(told.node).not.toHaveProperty('systemContainers');
  expect(told.pods[0]).toMatchObject({ memory: { workingSetBytes: 5_000 + 256 * 1_024 }, network: { name: 'eth0' } });
  world.simulation.runtime.faults.add({ call: 'listPodSandboxStats', error: { code: 'UNIMPLEMENTED', message: 'no' } });
  await world.simulation.clock.advance(10_000);
  const summed = read((await provider.cpuAndMemory(signal)).summary).pods[0];
  expect(summed.memory).toMatchObject({ workingSetBytes: 5_000, usageBytes: 5_000 });
  expect(summed.cpu).toMatchObject({ usageNanoCores: 10_000_000, usageCoreNanoSeconds: 205_000_000 });
});

test('the usage from cgroups is reported while the runtime hangs', async () => {
  const { provider } = await given();
  await world.pod('a');
  const { clock, runtime } = world.simulation;
  await provider.cpuAndMemory(signal);
  await clock.advance(20_000);
  for (const call of ['listContainers', 'listContainerStats', 'imageFsInfo'] as const)
    runtime.faults.add({ call, hang: true });
  const { node, pods } = read(await clock.advanceUntilSettled(provider.fullSummary(signal)));
  expect(pods[0].containers[0]).toMatchObject({ name: 'main', cpu: {}, memory: { workingSetBytes: 7 * MIB } });
  expect(pods[0].containers[0]).not.toHaveProperty('rootfs');
  expect(node).not.toHaveProperty('runtime');
  runtime.faults.add({ call: 'listContainers', error: { message: 'away' } });
  await clock.advance(1_000);
  expect((await provider.cpuAndMemory(signal)).failure).toBeDefined();
});

test('concurrent requests share one summary and one measurement', async () => {
  const { provider } = await given();
  await world.pod('a');
  const asked = () => world.simulation.runtime.calls.filter(({ call }) => call === 'imageFsInfo').length;
  const [one, other] = await Promise.all([provider.fullSummary(signal), provider.fullSummary(signal)]);
  expect([one === other, asked()]).toEqual([true, 1]);
  await world.simulation.clock.advance(5_000);
  expect(await provider.fullSummary(signal)).not.toBe(one);
  expect(asked()).toBe(2);
});

test('a foreign pod whose name is not a valid path is reported without disk usage', async () => {
  const { provider } = await given();
  await world.pod('..');
  const { pods } = read(await provider.fullSummary(signal));
  expect(pods[0]).toMatchObject({ podRef: { name: '..' }, containers: [{ name: 'main' }] });
  expect(pods[0]).not.toHaveProperty('ephemeral-storage');
});

test('a pod without running containers is not reported', async () => {
  const { provider } = await given();
  const { container } = await world.pod('a');
  await world.pod('b');
  world.simulation.runtime.exitContainer(container, 0);
  const { pods } = read(await provider.fullSummary(signal));
  expect(pods.map(({ podRef }: { podRef: { name: string } }) => podRef.name)).toEqual(['b']);
});
