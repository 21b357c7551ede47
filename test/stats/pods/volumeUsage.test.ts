import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { SimulatedClock } from '../../../actors/simulated/simulatedClock.ts';
import { createLayout, type Layout } from '../../../host/pods/layout.ts';
import type { UsageResult } from '../../../host/usage/diskUsages.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type { Volume } from '../../../kubernetes/api/schema/volume.ts';
import { countTrees } from '../../../stats/pods/countTrees.ts';
import { VolumeUsage, type VolumeUsageOptions } from '../../../stats/pods/volumeUsage.ts';
import { volumePlugins } from '../../../volume/plugins/plugins.ts';
import { podWith } from '../../fakes/pods.ts';

let root: string;
let layout: Layout;
let end: AbortController;
const clock = new SimulatedClock();

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'statelet-volumes-'));
  layout = createLayout({ rootDir: root, podLogsDir: join(root, 'logs') });
  end = new AbortController();
});

afterEach(() => {
  end.abort();
  rmSync(root, { recursive: true });
});

const VOLUMES: readonly Volume[] = [
  { name: 'data', emptyDir: {} },
  { name: 'memory', emptyDir: { medium: 'Memory' } },
  { name: 'map', configMap: { name: 'map' } },
  { name: 'token', projected: { sources: [] } },
  { name: 'host', hostPath: { path: '/' } },
];
const pluginOf = (volume: Volume) => volumePlugins.find(({ supportsVolume }) => supportsVolume(volume))?.name;

/** Creates a pod whose volumes exist on disk, each with a file of 64 KiB. */
function podOnDisk(name: string): Pod {
  const pod = podWith(name, { volumes: [...VOLUMES] });
  for (const volume of VOLUMES) {
    const plugin = pluginOf(volume);
    if (plugin === undefined || volume.hostPath) continue;
    const directory = layout.volumeDir(pod.metadata.uid, plugin, volume.name);
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, 'file'), Buffer.alloc(65_536, 1));
  }
  return pod;
}

interface Asked {
  readonly names: readonly string[];
  readonly signal: AbortSignal;
  readonly answer: (counted?: UsageResult) => void;
}

/** Creates volume usage whose measurements the test supplies. */
function usage(pods: () => readonly Pod[], more: Partial<VolumeUsageOptions> = {}) {
  const asked: Asked[] = [];
  const measure: VolumeUsageOptions['measure'] = (paths, signal) =>
    new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason));
      const answer = (counted: UsageResult = { bytes: 100, inodes: 2 }) =>
        resolve(paths.map(() => ({ ...counted, ms: 250 })));
      asked.push({ names: paths.map((path) => path.split('/').at(-1) ?? ''), signal, answer });
    });
  const parts = {
    pods,
    layout,
    findPlugin: pluginOf,
    periodMs: 60_000,
    measure,
    clock,
    jitter: () => 0.5,
    signal: end.signal,
  };
  const volumes = new VolumeUsage({ ...parts, ...more });
  const refresh = async (counted?: UsageResult) => {
    const before = asked.length;
    const refreshed = volumes.refresh();
    if (asked.length > before) asked.at(-1)?.answer(counted);
    await refreshed;
  };
  return { volumes, asked, refresh };
}

test('C43: a separate process measures the volumes of a pod, each with the size of its file system', async () => {
  const pod = podOnDisk('a');
  const volumes = usage(() => [pod], { measure: countTrees }).volumes;
  await volumes.refresh();
  const { allVolumes, localVolumes } = volumes.volumesOf(pod.metadata.uid);
  expect(allVolumes.map(({ name }) => name)).toEqual(['data', 'memory', 'map', 'token']);
  // Volumes in memory, and volumes of secrets, use none of the node's disk.
  expect(localVolumes.map(({ name }) => name)).toEqual(['data', 'map']);
  expect(Object.keys(JSON.parse(JSON.stringify(allVolumes[0])))).toEqual([
    'time',
    'availableBytes',
    'capacityBytes',
    'usedBytes',
    'inodesFree',
    'inodes',
    'inodesUsed',
    'name',
  ]);
  expect(allVolumes[0]?.inodesUsed).toBe(2);
  expect(allVolumes[0]?.usedBytes).toBeGreaterThanOrEqual(65_536);
});

test('C43: volumes are measured on request, and after their period only those that can change', async () => {
  const pod = podOnDisk('a');
  const { volumes, asked, refresh } = usage(() => [pod]);
  expect([volumes.volumesOf(pod.metadata.uid).allVolumes, asked]).toEqual([[], []]);
  await refresh();
  await clock.advance(89_999);
  await refresh();
  expect(asked).toHaveLength(1);
  await clock.advance(1);
  await refresh({ bytes: 300, inodes: 3 });
  expect(asked.map(({ names }) => names)).toEqual([
    ['data', 'memory', 'map', 'token'],
    ['data', 'memory'],
  ]);
  expect(volumes.volumesOf(pod.metadata.uid).allVolumes.map(({ usedBytes }) => usedBytes)).toEqual([
    300, 300, 100, 100,
  ]);
});

test('C42: the duration of each volume measurement is reported, also of a failed one', async () => {
  const durations: number[] = [];
  const { refresh } = usage(() => [podOnDisk('a')], { onMeasured: (ms) => durations.push(ms) });
  await refresh({ failure: 'ENOENT' });
  expect(durations).toEqual([250, 250, 250, 250]);
});

test('one measurement runs at a time, and concurrent callers wait for it', async () => {
  const pods = [podOnDisk('a')];
  const { volumes, asked } = usage(() => pods);
  const refreshed = [volumes.refresh(), volumes.refresh()];
  pods.push(podOnDisk('b'));
  refreshed.push(volumes.refresh());
  expect(asked).toHaveLength(1);
  asked[0]?.answer();
  await Promise.all(refreshed);
  expect(volumes.volumesOf(pods[0]?.metadata.uid ?? '').allVolumes).toHaveLength(4);
  void volumes.refresh();
  expect(asked[1]?.names).toEqual(['data', 'memory', 'map', 'token']);
});

test('a volume that could not be measured is omitted, and measured again after its period', async () => {
  const pod = podOnDisk('a');
  const { volumes, refresh, asked } = usage(() => [pod]);
  await refresh({ failure: 'ENOENT' });
  expect(volumes.volumesOf(pod.metadata.uid).allVolumes).toEqual([]);
  await clock.advance(90_000);
  await refresh();
  expect(asked[1]?.names).toHaveLength(4);
});

test('callers do not wait for a slow measurement', async () => {
  const pod = podOnDisk('a');
  const { volumes, asked } = usage(() => [pod]);
  await volumes.refresh();
  expect(volumes.volumesOf(pod.metadata.uid).allVolumes).toEqual([]);
  asked[0]?.answer();
}, 10_000);

test('the termination of a pod aborts the measurement of its volumes and drops the results', async () => {
  const pods = [podOnDisk('a'), podOnDisk('b')];
  const [a = '', b = ''] = pods.map(({ metadata }) => metadata.uid);
  const { volumes, asked, refresh } = usage(() => pods);
  const refreshed = volumes.refresh();
  volumes.abortPod('another');
  expect(asked[0]?.signal.aborted).toBe(false);
  volumes.abortPod(a);
  await refreshed;
  expect(asked[0]?.signal.aborted).toBe(true);
  pods.shift();
  await refresh();
  expect(volumes.volumesOf(b).allVolumes).toHaveLength(4);
  const [gone] = pods.splice(0);
  await refresh();
  expect([gone?.metadata.uid, volumes.volumesOf(b).allVolumes]).toEqual([b, []]);
});

test('terminating and terminated pods are not measured, and a negative period disables measurements', async () => {
  const ends = podOnDisk('a');
  const ended = podOnDisk('b');
  ends.metadata.deletionTimestamp = '2026-01-01T00:00:00Z';
  ended.status = { phase: 'Succeeded' };
  const { asked, refresh } = usage(() => [ends, ended]);
  await refresh();
  const never = usage(() => [podOnDisk('c')], { periodMs: -1 });
  await never.refresh();
  expect([asked, never.asked]).toEqual([[], []]);
});
