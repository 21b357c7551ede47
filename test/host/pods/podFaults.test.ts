/** The directories of a pod on a disk that fails at each call, and on one that loses power there. */
import { describe, expect, test } from '@jest/globals';
import type { FileSystem } from '../../../host/files/fileSystem.ts';
import { writeHostsFile } from '../../../host/pods/hostsFile.ts';
import { createLayout } from '../../../host/pods/layout.ts';
import { removeLogSymlinks, writeLogSymlink } from '../../../host/pods/logLinks.ts';
import {
  createTerminationLog,
  preparePodDirectory,
  removeLeftovers,
  removePodDirectory,
  removePodLogs,
} from '../../../host/pods/podDirectory.ts';
import { readOwner } from '../../../host/pods/podMark.ts';
import { claimPodDirectory, readPodDirectoryOwner } from '../../../host/pods/takePodDirectory.ts';
import { createUserNamespaces } from '../../../host/pods/userNamespaces.ts';
import { deaths, failuresOf, type Trouble, TroubledDisk } from '../../fakes/disk.ts';
import { podWith } from '../../fakes/pods.ts';

const { signal } = new AbortController();
const folders = { rootDir: '/var/lib/statelet', podLogsDir: '/var/log/pods' };
const maker = { root: folders.rootDir, node: 'node-1', runtime: 'unix:///run/containerd/containerd.sock' };
const pod = podWith('web');
const { uid } = pod.metadata;
const ID = 'c0ffee';
const SEEDS = [1, 2, 3, 4, 5];

/** Returns the operations of one agent on the files of a pod. Each agent has its own layout. */
function agentOn(files: FileSystem) {
  const layout = createLayout(folders, files);
  const removal = { layout, maker, signal };
  const users = createUserNamespaces({ layout, maxPodCount: 10 });
  return {
    layout,
    /** Returns the first host UID of the pod's user namespace. */
    start: async () => {
      await claimPodDirectory({ layout, maker, pod: pod.metadata });
      await preparePodDirectory({ pod, layout, signal });
      const { hostId } = await users.getRange(uid);
      await createTerminationLog(layout, { uid, container: 'main', run: '0' });
      await writeHostsFile({ pod, layout, ips: ['10.0.0.7'], clusterDomain: 'cluster.local', signal });
      const log = `${layout.containerLogDir(pod.metadata, 'main')}/0.log`;
      await writeLogSymlink(layout, { pod: pod.metadata, container: 'main', id: ID }, log);
      return hostId;
    },
    remove: async () => {
      for (const directory of [layout.podsDir, folders.podLogsDir]) {
        expect(await removeLeftovers(directory, removal)).toEqual([]);
      }
      await removeLogSymlinks(layout, pod.metadata);
      await removePodLogs(removal, pod.metadata);
      await removePodDirectory(removal, uid);
    },
  };
}

const newDisk = () => new TroubledDisk(() => Date.UTC(2026, 0, 1));

/** Returns all files that are left in the directories of pods. */
function left({ sound }: TroubledDisk): string[] {
  const { podsDir, logLinksDir } = createLayout(folders, sound);
  return [podsDir, folders.podLogsDir, logLinksDir].flatMap((directory) =>
    sound.existsSync(directory) ? sound.readdirSync(directory) : [],
  );
}

/** Starts and removes the pod, and fails where the disk does. */
async function play(disk: TroubledDisk, trouble?: Trouble): Promise<void> {
  disk.meet(trouble);
  const agent = agentOn(disk.files);
  await agent.start();
  await agent.remove();
}

/** Lets the next agent start the pod and remove it. Nothing may be left afterwards. */
async function playAgain(disk: TroubledDisk): Promise<void> {
  const agent = agentOn(disk.sound);
  await agent.start();
  const { layout } = agent;
  expect(readPodDirectoryOwner(layout, maker, uid)).toMatchObject({ kind: 'ours', pod: { name: 'web' } });
  expect(readOwner(disk.sound, layout.podLogDir(pod.metadata), maker)).toMatchObject({
    kind: 'ours',
    pod: { name: 'web' },
  });
  expect(disk.sound.readFileSync(layout.hostsFile(uid))).toContain('10.0.0.7\tweb\n');
  const link = layout.logLink(pod.metadata, 'main', ID);
  expect(await disk.sound.readlink(link)).toBe(`${layout.containerLogDir(pod.metadata, 'main')}/0.log`);
  await agent.remove();
  expect(left(disk)).toEqual([]);
}

const undisturbed = newDisk();
await play(undisturbed);
const calls = undisturbed.calls.map((call, at) => [`${at}: ${call.call} ${call.path}`, at, call] as const);

test('without faults, nothing of the pod is left', async () => {
  expect(left(undisturbed)).toEqual([]);
  await playAgain(undisturbed);
});

describe.each([
  ['the agent dies', [undefined]],
  ['the power fails', SEEDS],
])('after %s, the next agent recognizes the directories as its own and continues with them', (_, seeds) => {
  test.each(calls)('at %s', async (_title, at) => {
    for (const fault of deaths) {
      for (const seed of seeds) {
        const disk = newDisk();
        void play(disk, { at, fault });
        await new Promise((resolve) => setImmediate(resolve));
        expect(disk.calls.length).toBeGreaterThan(at);
        if (seed !== undefined) disk.cutPower(seed);
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
    const { code } = trouble.fault;
    await play(disk, trouble).catch((error: unknown) => {
      expect(error).toMatchObject({ message: expect.stringContaining(code) });
    });
    await playAgain(disk);
  });
});
