import { execFile } from 'node:child_process';
import { mkdir, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import type { Layout } from '../../../host/pods/layout.ts';
import { hostMounter as mounter } from '../../../volume/mount/hostMounter.ts';
import { hostPathPlugin } from '../../../volume/plugins/hostPath.ts';
import { inFolder, requestOf, signal, withRoot } from '../onDisk.ts';

type Type = 'DirectoryOrCreate' | 'Directory' | 'FileOrCreate' | 'File' | 'Socket' | 'CharDevice' | 'BlockDevice' | '';

function mount(layout: Layout, target: string, type?: Type) {
  const volume = { name: 'data', hostPath: type === undefined ? { path: target } : { path: target, type } };
  return hostPathPlugin.mount(requestOf(layout, volume));
}

describe("a path of the wrong type is rejected with the kubelet's message", () => {
  test.each<[Type, string]>([
    ['Directory', 'directory'],
    ['File', 'file'],
    ['Socket', 'socket file'],
    ['CharDevice', 'character device'],
    ['BlockDevice', 'block device'],
  ])('%s', async (type, noun) => {
    await inFolder(async (folder, layout) => {
      const missing = path.join(folder, 'missing');
      const message = `hostPath type check failed: ${missing} is not a ${noun}`;
      await expect(mount(layout, missing, type)).rejects.toMatchObject({ reason: 'FailedMount', message });
    });
  });

  test('a file where a directory should be created, and vice versa', async () => {
    await inFolder(async (folder, layout) => {
      await writeFile(path.join(folder, 'file'), '');
      await expect(mount(layout, path.join(folder, 'file'), 'DirectoryOrCreate')).rejects.toThrow('is not a directory');
      await expect(mount(layout, folder, 'FileOrCreate')).rejects.toThrow('is not a file');
      await expect(mount(layout, path.join(folder, 'file', 'below'), 'Directory')).rejects.toThrow('not a directory');
    });
  });
});

test('an existing path of the right type is used, following links', async () => {
  await inFolder(async (folder, layout) => {
    const socket = path.join(folder, 'socket');
    const server = createServer();
    await new Promise<void>((listening) => server.listen(socket, listening));
    await writeFile(path.join(folder, 'file'), 'kept');
    await symlink(folder, path.join(folder, 'link'));
    expect(await mount(layout, socket, 'Socket')).toEqual({ kind: 'path', hostPath: socket });
    expect(await mount(layout, '/dev/null', 'CharDevice')).toEqual({ kind: 'path', hostPath: '/dev/null' });
    expect(await mount(layout, path.join(folder, 'link'), 'Directory')).toEqual({
      kind: 'path',
      hostPath: path.join(folder, 'link'),
    });
    await mount(layout, path.join(folder, 'file'), 'FileOrCreate');
    expect((await stat(path.join(folder, 'file'))).size).toBe(4);
    await new Promise((closed) => server.close(closed));
  });
});

withRoot('a block device is accepted wherever its file is', async () => {
  await inFolder(async (folder, layout) => {
    const device = path.join(folder, 'device');
    await promisify(execFile)('mknod', [device, 'b', '7', '200']);
    expect(await mount(layout, device, 'BlockDevice')).toEqual({ kind: 'path', hostPath: device });
    await expect(mount(layout, device, 'CharDevice')).rejects.toThrow('is not a character device');
  });
});

test('directories are created with mode 0755 and files with mode 0644, idempotently', async () => {
  await inFolder(async (folder, layout) => {
    const directory = path.join(folder, 'a', 'b');
    const file = path.join(folder, 'f');
    for (let time = 0; time < 2; time += 1) {
      await mount(layout, directory, 'DirectoryOrCreate');
      await mount(layout, file, 'FileOrCreate');
    }
    expect((await stat(directory)).mode & 0o777).toBe(0o755);
    expect((await stat(file)).mode & 0o777).toBe(0o644);
  });
});

test('an existing directory retains its mode', async () => {
  await inFolder(async (folder, layout) => {
    await mkdir(path.join(folder, 'secret'), { mode: 0o700 });
    await mount(layout, path.join(folder, 'secret'), 'DirectoryOrCreate');
    expect((await stat(path.join(folder, 'secret'))).mode & 0o777).toBe(0o700);
  });
});

test('without a type, nothing is checked or created', async () => {
  await inFolder(async (folder, layout) => {
    expect(await mount(layout, path.join(folder, 'later'))).toEqual({
      kind: 'path',
      hostPath: path.join(folder, 'later'),
    });
    expect(await mount(layout, path.join(folder, 'later'), '')).toEqual({
      kind: 'path',
      hostPath: path.join(folder, 'later'),
    });
    await expect(stat(path.join(folder, 'later'))).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

test.each(['/srv/../etc', '..', 'srv/data', ''])('the path %j is rejected permanently', async (target) => {
  await inFolder(async (_folder, layout) => {
    await expect(mount(layout, target, 'DirectoryOrCreate')).rejects.toMatchObject({
      reason: 'FailedMount',
    });
  });
});

test('unmounting preserves the directory and its contents', async () => {
  await inFolder(async (folder, layout) => {
    await writeFile(path.join(folder, 'file'), 'kept');
    await hostPathPlugin.unmount({ podUid: 'u1', volumeName: 'data', layout, mounter, signal });
    expect((await stat(path.join(folder, 'file'))).size).toBe(4);
  });
});
