import { execFile } from 'node:child_process';
import { mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import {
  createTerminationLog,
  listPodDirectories,
  preparePodDirectory,
  removePodDirectory,
  removePodLogs,
} from '../../../host/pods/podDirectory.ts';
import { claimPodDirectory } from '../../../host/pods/takePodDirectory.ts';
import { unmount } from '../../../volume/mount/mount.ts';
import { inFolder, makerIn, podWith, signal, withRoot } from '../../volume/onDisk.ts';

const run = promisify(execFile);
const modeOf = async (file: string) => (await stat(file)).mode & 0o777;
const identity = { uid: 'u1', namespace: 'default', name: 'web' };

test('a pod gets its directories and log directories with the required modes', async () => {
  await inFolder(async (_folder, layout) => {
    const pod = podWith({ initContainers: [{ name: 'setup', image: 'busybox' }] });
    await claimPodDirectory({ layout, maker: makerIn(layout), pod: identity });
    await preparePodDirectory({ pod, layout, signal });
    await preparePodDirectory({ pod, layout, signal });
    for (const directory of [layout.podDir('u1'), layout.volumesDir('u1')]) {
      expect(await modeOf(directory)).toBe(0o750);
    }
    expect(await modeOf(layout.podLogDir(identity))).toBe(0o755);
    expect(await modeOf(layout.containerLogDir(identity, 'setup'))).toBe(0o755);
    expect(await modeOf(layout.containerLogDir(identity, 'main'))).toBe(0o755);
    expect(await listPodDirectories(layout)).toEqual(['u1']);
  });
});

test("subdirectories are not created without the pod's directory or over an obstacle", async () => {
  await inFolder(async (_folder, layout) => {
    const prepare = () => preparePodDirectory({ pod: podWith(), layout, signal });
    await expect(prepare()).rejects.toMatchObject({ code: 'ENOENT' });
    expect(await listPodDirectories(layout)).toEqual([]);
    await claimPodDirectory({ layout, maker: makerIn(layout), pod: identity });
    await writeFile(layout.containerLogDir(identity, 'main'), 'theirs');
    await expect(prepare()).rejects.toMatchObject({ code: 'EEXIST' });
  });
});

test('the termination log is writable by every user and preserved by another call', async () => {
  await inFolder(async (_folder, layout) => {
    await claimPodDirectory({ layout, maker: makerIn(layout), pod: identity });
    await preparePodDirectory({ pod: podWith(), layout, signal });
    const file = await createTerminationLog(layout, { uid: 'u1', container: 'main', run: '0' });
    expect(file).toBe(layout.terminationLog('u1', 'main', '0'));
    expect(await modeOf(file)).toBe(0o666);
    await writeFile(file, 'out of coffee');
    await createTerminationLog(layout, { uid: 'u1', container: 'main', run: '0' });
    expect(await readFile(file, 'utf8')).toBe('out of coffee');
  });
});

test('a pod of an earlier version gets the directory of termination logs, but a removed pod is not recreated', async () => {
  await inFolder(async (_folder, layout) => {
    const run = { uid: 'u1', container: 'main', run: '0' };
    await expect(createTerminationLog(layout, run)).rejects.toMatchObject({ code: 'ENOENT' });
    expect(await listPodDirectories(layout)).toEqual([]);
    await mkdir(layout.volumesDir('u1'), { recursive: true });
    expect(await modeOf(await createTerminationLog(layout, run))).toBe(0o666);
  });
});

test('removing a pod deletes its directory and logs, even twice, and nothing that a link in it points to', async () => {
  await inFolder(async (folder, layout) => {
    await claimPodDirectory({ layout, maker: makerIn(layout), pod: identity });
    await preparePodDirectory({ pod: podWith(), layout, signal });
    const precious = path.join(folder, 'precious');
    await mkdir(precious);
    await writeFile(path.join(precious, 'file'), 'kept');
    await symlink(precious, path.join(layout.volumesDir('u1'), 'link'));
    for (let time = 0; time < 2; time += 1) {
      await removePodDirectory({ layout, maker: makerIn(layout), signal }, 'u1');
      await removePodLogs({ layout, maker: makerIn(layout), signal }, identity);
    }
    expect(await listPodDirectories(layout)).toEqual([]);
    await expect(stat(layout.podLogDir(identity))).rejects.toMatchObject({ code: 'ENOENT' });
    expect(await readFile(path.join(precious, 'file'), 'utf8')).toBe('kept');
  });
});

withRoot('a pod directory with something mounted in it is left whole', async () => {
  await inFolder(async (_folder, layout) => {
    await claimPodDirectory({ layout, maker: makerIn(layout), pod: identity });
    await preparePodDirectory({ pod: podWith(), layout, signal });
    const mounted = path.join(layout.volumesDir('u1'), 'with space');
    await mkdir(mounted);
    await run('mount', ['-t', 'tmpfs', 'tmpfs', mounted]);
    await writeFile(path.join(mounted, 'file'), 'kept');
    await expect(removePodDirectory({ layout, maker: makerIn(layout), signal }, 'u1')).rejects.toMatchObject({
      reason: 'FailedUnmount',
      message: expect.stringContaining(mounted),
    });
    expect(await readFile(path.join(mounted, 'file'), 'utf8')).toBe('kept');
    expect(await modeOf(layout.volumesDir('u1'))).toBe(0o750);
    await unmount(mounted, signal);
    await removePodDirectory({ layout, maker: makerIn(layout), signal }, 'u1');
    expect(await listPodDirectories(layout)).toEqual([]);
  });
});

test('a cancelled removal deletes nothing', async () => {
  await inFolder(async (_folder, layout) => {
    await claimPodDirectory({ layout, maker: makerIn(layout), pod: identity });
    await preparePodDirectory({ pod: podWith(), layout, signal });
    await expect(
      removePodDirectory({ layout, maker: makerIn(layout), signal: AbortSignal.abort(new Error('gone')) }, 'u1'),
    ).rejects.toThrow();
    expect(await modeOf(layout.volumesDir('u1'))).toBe(0o750);
  });
});
