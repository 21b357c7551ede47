import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import type * as wire from '../../../cri/generated/runtime.ts';
import { createLayout } from '../../../host/pods/layout.ts';
import { createHostFacts } from '../../../stats/node/hostFacts.ts';
import { ResourceMeter } from '../../../stats/node/resourceMeter.ts';
import { StatsProvider } from '../../../stats/node/statsProvider.ts';
import { statsTime } from '../../../stats/node/summary.ts';
import { StatsWorld } from '../support.ts';

const { signal } = new AbortController();
const MIB = 2 ** 20;
let world: StatsWorld;

afterEach(() => world.close());

const fileSystem = (mountpoint: string): wire.FilesystemUsage => ({
  timestamp: 5_000_000_000n,
  fsId: { mountpoint },
  usedBytes: { value: 1n },
  inodesUsed: { value: 1n },
});

/** Creates a meter on a host with 100 MiB of memory, whose runtime has its file systems at these paths. */
async function meter({ version = 'v2' as 'v1' | 'v2', images = ['/'], containers = [] as readonly string[] } = {}) {
  world = new StatsWorld(version);
  await world.node();
  const { clock, cri: runtime } = world.simulation;
  const cri = {
    listContainerStats: (...call: Parameters<typeof runtime.listContainerStats>) => runtime.listContainerStats(...call),
    imageFsInfo: async () => ({
      imageFilesystems: images.map(fileSystem),
      containerFilesystems: containers.map(fileSystem),
    }),
  };
  const hostFacts = {
    ...createHostFacts(world.hierarchies),
    memoryTotals: { memory: 100 * MIB },
    taskStats: () => ({ maxpid: 1_000, curproc: 300 }),
  };
  const collector = world.collector({ findSharedCgroup: () => 'kubepods' });
  const layout = createLayout({ rootDir: join(world.root, 'kubelet'), podLogsDir: join(world.root, 'logs') });
  const volume = { name: 'scratch', time: statsTime(0), usedBytes: 7, inodesUsed: 2 };
  const provider = new StatsProvider({
    nodeName: 'node-1',
    collector,
    cri,
    hostFacts,
    layout,
    rootDirectory: '/',
    volumes: { volumesOf: () => ({ allVolumes: [volume], localVolumes: [volume] }), refresh: async () => {} },
    clock,
    signal: world.end.signal,
    wait: (ms) => clock.advance(ms),
  });
  return {
    meter: new ResourceMeter({ collector, provider, cri, hostFacts, rootDirectory: '/', clock }),
    layout,
    clock,
  };
}

describe('C28: the resources of a node', () => {
  test.each(['v1', 'v2'] as const)(
    'include the memory of the node and of all pods, the disks and the processes, on cgroup %s',
    async (version) => {
      const { meter: measuring, clock } = await meter({ version });
      const { observations } = await measuring.measureNode(signal);
      expect(Object.keys(observations)).toEqual([
        'memory.available',
        'allocatableMemory.available',
        'nodefs.available',
        'nodefs.inodesFree',
        'imagefs.available',
        'imagefs.inodesFree',
        'containerfs.available',
        'containerfs.inodesFree',
        'pid.available',
      ]);
      const { 'memory.available': memory, 'allocatableMemory.available': ofPods } = observations;
      expect(memory).toMatchObject({ capacity: 100 * MIB, at: clock.now() });
      // The limit of kubepods is 64 MiB, of which 7 MiB are in use.
      expect(ofPods).toEqual({ available: 57 * MIB, capacity: 64 * MIB, at: clock.now() });
      expect(observations['pid.available']).toEqual({ available: 700, capacity: 1_000, at: clock.now() });
      // If a runtime reports no file system for containers, they share that of the images, with the time of its
      // figures.
      expect(observations['imagefs.available']?.at).toBe(5_000);
      expect(observations['containerfs.available']).toEqual(observations['imagefs.available']);
      expect(measuring.readMemory()).toEqual({ 'memory.available': memory, 'allocatableMemory.available': ofPods });
    },
  );

  test('exclude the memory of all pods if it has no limit', async () => {
    const { meter: measuring } = await meter();
    await world.cgroup('kubepods', { 'memory.max': 'max\n' });
    expect(Object.keys(measuring.readMemory())).toEqual(['memory.available']);
  });

  test('follow the limit of all pods at once, because an agent that starts may change it', async () => {
    const { meter: measuring, clock } = await meter();
    expect(measuring.readMemory()['allocatableMemory.available']?.capacity).toBe(64 * MIB);
    await world.cgroup('kubepods', { 'memory.max': `${32 * MIB}\n` });
    await clock.advance(1_000);
    expect(measuring.readMemory()['allocatableMemory.available']).toMatchObject({
      available: 25 * MIB,
      capacity: 32 * MIB,
    });
  });

  test.each<[string, readonly string[], readonly string[], string]>([
    ['on one file system', ['/'], [], 'single'],
    ['with images elsewhere', ['/proc'], [], 'separateImages'],
    ['with images and containers elsewhere', ['/proc'], ['/proc'], 'separateImages'],
    ['with only images elsewhere', ['/proc'], ['/'], 'split'],
    ['without figures of the runtime', [], [], 'single'],
  ])('are laid out %s', async (_, images, containers, layout) => {
    const { meter: measuring } = await meter({ images: [...images], containers });
    expect((await measuring.measureNode(signal)).layout).toBe(layout);
  });

  test('cannot be measured if the image file system is missing', async () => {
    const { meter: measuring } = await meter({ images: ['/missing'] });
    await expect(measuring.measureNode(signal)).rejects.toMatchObject({ reason: 'FailedRead' });
  });
});

describe('C28: the usage of pods', () => {
  /** Creates a meter of the pods `a`, whose log has 5,000 bytes, and `b`. */
  async function meterOfPods(version: 'v1' | 'v2' = 'v2') {
    const { meter: measuring, layout } = await meter({ version });
    await world.pod('a');
    await world.pod('b');
    const logs = layout.containerLogDir({ uid: 'uid-of-a', name: 'a', namespace: 'default' }, 'main');
    mkdirSync(logs, { recursive: true });
    writeFileSync(join(logs, '0.log'), 'x'.repeat(5_000));
    return measuring;
  }

  test('includes memory, processes, writable layers, logs and volumes', async () => {
    const measuring = await meterOfPods();
    const usages = await measuring.measurePods(['uid-of-a'], 'everything', signal);
    expect(Object.keys(usages)).toEqual(['uid-of-a']);
    expect(usages['uid-of-a']).toMatchObject({
      memoryBytes: 7 * MIB,
      processes: 2,
      containers: [{ name: 'main', memoryBytes: 7 * MIB, logs: { bytes: 8_192, inodes: 1 } }],
      volumes: [{ name: 'scratch', bytes: 7, inodes: 2 }],
    });
    expect(usages['uid-of-a']?.ephemeralStorageBytes).toBeGreaterThanOrEqual(8_199);
  });

  test.each(['v1', 'v2'] as const)('includes only memory if memory is short, on cgroup %s', async (version) => {
    const measuring = await meterOfPods(version);
    expect(await measuring.measurePods(['uid-of-a'], 'memory', signal)).toEqual({
      'uid-of-a': { memoryBytes: 7 * MIB, containers: [{ name: 'main', memoryBytes: 7 * MIB }], volumes: [] },
    });
    expect(world.simulation.runtime.calls.map(({ call }) => call)).not.toContain('listContainerStats');
  });

  test.each(['v1', 'v2'] as const)('includes only processes if processes are short, on cgroup %s', async (version) => {
    const measuring = await meterOfPods(version);
    expect(await measuring.measurePods(['uid-of-a'], 'pids', signal)).toEqual({
      'uid-of-a': { processes: 2, containers: [{ name: 'main' }], volumes: [] },
    });
    expect(world.simulation.runtime.calls.map(({ call }) => call)).not.toContain('listContainerStats');
  });

  test.each(['ephemeral-storage', 'inodes'] as const)('includes only files if %s are short', async (resource) => {
    const measuring = await meterOfPods();
    const { 'uid-of-a': usage } = await measuring.measurePods(['uid-of-a'], resource, signal);
    expect(usage).toMatchObject({
      containers: [{ name: 'main', logs: { bytes: 8_192, inodes: 1 } }],
      volumes: [{ name: 'scratch', bytes: 7, inodes: 2 }],
    });
    expect([usage?.memoryBytes, usage?.processes]).toEqual([undefined, undefined]);
  });

  test('does not read cgroups if only disk usage is measured', async () => {
    const { meter: measuring } = await meter();
    await world.pod('a');
    world.remove('kubepods/burstable/poduid-of-a');
    const usages = await measuring.measureDiskUsage(['uid-of-a', 'uid-of-b'], signal);
    expect(usages['uid-of-a']).toMatchObject({
      containers: [{ name: 'main' }],
      volumes: [{ name: 'scratch', bytes: 7 }],
    });
    expect(usages['uid-of-a']?.memoryBytes).toBeUndefined();
    expect(Object.keys(usages)).toEqual(['uid-of-a']);
  });
});
