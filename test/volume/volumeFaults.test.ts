/** The volumes of a pod on a disk that fails at each call, and on one that loses power there. */
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { FileSystem } from '../../host/files/fileSystem.ts';
import { createLayout } from '../../host/pods/layout.ts';
import { claimPodDirectory } from '../../host/pods/takePodDirectory.ts';
import { type Gate, openGate } from '../../host/simulated/gate.ts';
import type { Volume } from '../../kubernetes/api/schema/volume.ts';
import { findPlugin } from '../../volume/plugins/plugin.ts';
import { volumePlugins } from '../../volume/plugins/plugins.ts';
import { removePodFiles } from '../../volume/removePodFiles.ts';
import { SimulatedMounter } from '../../volume/simulated/simulatedMounter.ts';
import { deaths, failuresOf, type Trouble, TroubledDisk } from '../fakes/disk.ts';
import { podWith } from '../fakes/pods.ts';

const { signal } = new AbortController();
const folders = { rootDir: '/var/lib/statelet', podLogsDir: '/var/log/pods' };
const ownMark = { root: folders.rootDir, node: 'node-1', runtime: 'unix:///run/containerd/containerd.sock' };
const SEEDS = [1, 2];
const labelsFile = { path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } };
const data: Volume = { name: 'data', emptyDir: {} };
const memory: Volume = { name: 'memory', emptyDir: { medium: 'Memory' } };
const info: Volume = { name: 'info', downwardAPI: { items: [labelsFile] } };
const pods = ['old', 'new'].map((version) => {
  const pod = podWith('web', { volumes: [data, memory, info], securityContext: { fsGroup: 2_000 } });
  return { ...pod, metadata: { ...pod.metadata, labels: { version } } };
});
const [
  {
    metadata: { uid },
  } = podWith('web'),
] = pods;

/** Returns the operations of one agent on the volumes of the pod. */
function agentOn(disk: TroubledDisk, files: FileSystem, gate: Gate) {
  const layout = createLayout(folders, files);
  const common = { layout, mounter: new SimulatedMounter(disk.disk, gate), signal };
  const subPath = layout.subPathDir(uid, 'data', 'main', 0);
  return {
    ...common,
    subPath,
    mount: async (pod = pods[0] ?? podWith('web')) => {
      await claimPodDirectory({ layout, maker: ownMark, pod: pod.metadata });
      const paths: string[] = [];
      for (const volume of [data, memory, info]) {
        const plugin = findPlugin(volumePlugins, volume);
        const mounted = await plugin.mount({ ...common, pod, volume, allocatable: { memory: '1Gi' }, now: 0 });
        if (mounted.kind !== 'path') throw new Error(`${volume.name} is ${mounted.kind}`);
        paths.push(mounted.hostPath);
      }
      const [hostPath = '', memoryPath = '', infoPath = ''] = paths;
      const bind = { kind: 'bind', hostPath, own: true, subPath: 'sub', target: subPath } as const;
      const [{ failure } = {}] = await common.mounter.runTasks([bind], signal);
      if (failure !== undefined) throw new Error(failure);
      return { hostPath, memoryPath, infoPath };
    },
    remove: () => removePodFiles({ ...common, uid, ownMark, plugins: volumePlugins }),
  };
}

const newDisk = () => new TroubledDisk(() => Date.UTC(2026, 0, 1));

/** Mounts the volumes, mounts them again with different labels, and removes them, until the disk fails. */
async function play(disk: TroubledDisk, trouble?: Trouble): Promise<void> {
  disk.meet(trouble);
  const agent = agentOn(disk, disk.files, disk.gate);
  for (const pod of pods) await agent.mount(pod);
  await agent.remove();
}

/** Lets the next agent mount and remove the volumes. Nothing may be left afterwards. */
async function playAgain(disk: TroubledDisk): Promise<void> {
  const { sound } = disk;
  const agent = agentOn(disk, sound, openGate);
  const { hostPath, memoryPath, infoPath } = await agent.mount(pods[1]);
  for (const path of [hostPath, memoryPath]) {
    const { gid, mode } = await sound.stat(path);
    expect([gid, mode & 0o2777]).toEqual([2_000, 0o2777]);
  }
  expect(await agent.mounter.mountAt(memoryPath, signal)).toMatchObject({ type: 'tmpfs' });
  expect(sound.readFileSync(join(infoPath, 'labels'))).toBe('version="new"');
  await sound.writeFile(join(agent.subPath, 'file'), 'through it');
  expect(sound.readFileSync(join(hostPath, 'sub', 'file'))).toBe('through it');
  await agent.remove();
  expect([sound.readdirSync(agent.layout.podsDir), disk.disk.mounts]).toEqual([[], []]);
}

const undisturbed = newDisk();
await play(undisturbed);
const calls = undisturbed.calls.map((call, at) => [`${at}: ${call.call} ${call.path}`, at, call] as const);

test('without faults nothing is left of the volumes', async () => {
  expect([undisturbed.sound.readdirSync('/var/lib/statelet/pods'), undisturbed.disk.mounts]).toEqual([[], []]);
  await playAgain(undisturbed);
});

describe('after a crash of the agent, the files are the old or the new ones, and the next agent continues', () => {
  test.each(calls)('at %s', async (_title, at) => {
    for (const fault of deaths) {
      const disk = newDisk();
      void play(disk, { at, fault });
      await new Promise((resolve) => setImmediate(resolve));
      expect(disk.calls.length).toBeGreaterThan(at);
      const shown = join(createLayout(folders).volumeDir(uid, 'kubernetes.io/downward-api', 'info'), '..data/labels');
      if (disk.sound.existsSync(shown)) expect(disk.sound.readFileSync(shown)).toMatch(/^version="(old|new)"$/);
      await playAgain(disk);
    }
  });
});

describe('after a power failure, the next agent continues', () => {
  test.each(calls)('at %s', async (_title, at) => {
    for (const fault of deaths) {
      for (const seed of SEEDS) {
        const disk = newDisk();
        void play(disk, { at, fault });
        await new Promise((resolve) => setImmediate(resolve));
        disk.cutPower(seed);
        await playAgain(disk);
      }
    }
  });
});

describe('a failing call is reported, and the next attempt succeeds', () => {
  const failures = calls.flatMap(([title, at, call]) =>
    failuresOf(call).map((fault) => [`${JSON.stringify(fault)} at ${title}`, { at, fault }] as const),
  );

  test.each(failures)('%s', async (_, trouble) => {
    const disk = newDisk();
    await play(disk, trouble).catch((error: unknown) => {
      expect(error).toMatchObject({ message: expect.stringContaining(trouble.fault.code) });
    });
    await playAgain(disk);
  });
});
