import { execFile } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { listMountsUnder } from '../../host/files/mountinfo.ts';
import { listPodDirectories } from '../../host/pods/podDirectory.ts';
import { MARK_FILE, writeMark } from '../../host/pods/podMark.ts';
import { claimPodDirectory } from '../../host/pods/takePodDirectory.ts';
import { hostMounter as mounter } from '../../volume/mount/hostMounter.ts';
import { unmount } from '../../volume/mount/mount.ts';
import { findPlugin } from '../../volume/plugins/plugin.ts';
import { volumePlugins } from '../../volume/plugins/plugins.ts';
import { removePodFiles } from '../../volume/removePodFiles.ts';
import { inFolder, makerIn, requestOf, signal, withRoot } from './onDisk.ts';

const run = promisify(execFile);
const pod = { uid: 'u1', namespace: 'default', name: 'web' };

test('the pods of an earlier run are found, and other directories are ignored', async () => {
  await inFolder(async (_folder, layout) => {
    expect(await listPodDirectories(layout)).toEqual([]);
    await mkdir(layout.podDir('u1'), { recursive: true });
    await mkdir(layout.podDir('u2'), { recursive: true });
    await mkdir(path.join(layout.podsDir, '.no pod'));
    expect([...(await listPodDirectories(layout))].sort()).toEqual(['u1', 'u2']);
  });
});

test('an orphaned pod is removed with its volumes, idempotently, and other pods remain', async () => {
  await inFolder(async (_folder, layout) => {
    await claimPodDirectory({ layout, maker: makerIn(layout), pod });
    const cache = layout.volumeDir('u1', 'kubernetes.io/empty-dir', 'cache');
    await mkdir(cache, { recursive: true });
    await writeFile(path.join(cache, 'file'), '');
    await mkdir(layout.podDir('u2'), { recursive: true });
    await removePodFiles({ uid: 'u1', layout, mounter, ownMark: makerIn(layout), plugins: volumePlugins, signal });
    await removePodFiles({ uid: 'u1', layout, mounter, ownMark: makerIn(layout), plugins: volumePlugins, signal });
    expect(await listPodDirectories(layout)).toEqual(['u2']);
  });
});

withRoot('the tmpfs of an orphaned pod is unmounted, and a mount of an unknown plugin is left alone', async () => {
  await inFolder(async (_folder, layout) => {
    await claimPodDirectory({ layout, maker: makerIn(layout), pod });
    const volume = { name: 'cache', emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } };
    await findPlugin(volumePlugins, volume).mount(requestOf(layout, volume));
    const foreign = layout.volumeDir('u1', 'kubernetes.io/csi', 'disk');
    await mkdir(foreign, { recursive: true });
    await run('mount', ['-t', 'tmpfs', 'tmpfs', foreign]);
    const orphan = { uid: 'u1', layout, mounter, ownMark: makerIn(layout), plugins: volumePlugins, signal };
    await expect(removePodFiles(orphan)).rejects.toMatchObject({ reason: 'FailedUnmount' });
    expect(await listMountsUnder(layout.podDir('u1'), signal)).toEqual([{ path: foreign, type: 'tmpfs' }]);
    await unmount(foreign, signal);
    await removePodFiles(orphan);
    expect(await listPodDirectories(layout)).toEqual([]);
  });
});

withRoot('nothing of other agents is unmounted or removed, whatever mark it has', async () => {
  await inFolder(async (_folder, layout) => {
    const ownMark = makerIn(layout);
    const volume = { name: 'cache', emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } };
    await findPlugin(volumePlugins, volume).mount(requestOf(layout, volume));
    const cache = layout.volumeDir('u1', 'kubernetes.io/empty-dir', 'cache');
    await writeFile(path.join(cache, 'file'), 'kept');
    const markFile = path.join(layout.podDir('u1'), MARK_FILE);
    const marks = [
      () => rm(markFile, { force: true }),
      () => writeFile(markFile, '{"root":'),
      () => writeMark(layout.podDir('u1'), { layout, maker: { ...ownMark, root: '/elsewhere' }, pod }),
      () => writeMark(layout.podDir('u1'), { layout, maker: { ...ownMark, node: 'node-2' }, pod }),
    ];
    for (const mark of marks) {
      await mark();
      await removePodFiles({ uid: 'u1', layout, mounter, ownMark, plugins: volumePlugins, signal });
      expect(await readFile(path.join(cache, 'file'), 'utf8')).toBe('kept');
    }
  });
});
