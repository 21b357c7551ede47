import { execFile, spawn } from 'node:child_process';
import { chmod, lstat, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, jest } from '@jest/globals';
import { findMountAt, listMountsUnder } from '../../../host/files/mountinfo.ts';
import { readFileWithin } from '../../../host/files/safeOpen.ts';
import type { Layout } from '../../../host/pods/layout.ts';
import { claimPodDirectory } from '../../../host/pods/takePodDirectory.ts';
import { bindSubPath } from '../../../volume/mount/bindSubPath.ts';
import { hostMounter as mounter } from '../../../volume/mount/hostMounter.ts';
import { mount, unmount } from '../../../volume/mount/mount.ts';
import { removeSubPaths } from '../../../volume/mount/removeSubPaths.ts';
import { volumePlugins } from '../../../volume/plugins/plugins.ts';
import { removePodFiles } from '../../../volume/removePodFiles.ts';
import { inFolder, makerIn, signal, withRoot } from '../onDisk.ts';

jest.setTimeout(120_000);

const execute = promisify(execFile);

interface Place {
  readonly volume: string;
  readonly outside: string;
  readonly layout: Layout;
  /** Mounts a subpath of the volume. Returns the path of the mount. */
  readonly bind: (subPath: string, index?: number) => Promise<string>;
  readonly remove: () => Promise<void>;
  readonly mounted: () => Promise<string[]>;
}

/** Defines a test with a volume that has a directory `inside` and a file `file`. A secret is outside of it. */
function withVolume(name: string, story: (place: Place) => Promise<void>): void {
  withRoot(name, () =>
    inFolder(async (folder, layout) => {
      const [volume, outside] = [join(folder, 'volume'), join(folder, 'outside')];
      await mkdir(join(volume, 'inside'), { recursive: true });
      await mkdir(outside);
      await writeFile(join(volume, 'file'), 'mine');
      await writeFile(join(outside, 'secret'), 'secret');
      await story({
        volume,
        outside,
        layout,
        bind: async (subPath, index = 0) => {
          const target = layout.subPathDir('u1', 'data', 'main', index);
          await bindSubPath({ hostPath: volume, subPath, target, signal });
          return target;
        },
        remove: () => removeSubPaths({ layout, mounter, signal }, { podUid: 'u1', volume: 'data' }),
        mounted: async () => (await listMountsUnder(layout.podsDir, signal)).map(({ path }) => path),
      });
    }),
  );
}

withVolume('C26: a subPath is mounted once at a path of its pod, however often it is requested', async (place) => {
  const { volume, layout, bind, mounted } = place;
  const path = await bind('inside');
  expect(path).toBe(layout.subPathDir('u1', 'data', 'main', 0));
  await writeFile(join(path, 'seen'), 'x');
  expect(await readdir(join(volume, 'inside'))).toEqual(['seen']);
  expect(await bind('inside')).toBe(path);
  expect(await mounted()).toEqual([path]);
});

withVolume(
  'C26: a subPath can be a file, and is mounted again after the file was replaced',
  async ({ volume, bind, mounted }) => {
    const path = await bind('file');
    expect(await readFile(path, 'utf8')).toBe('mine');
    await rm(join(volume, 'file'));
    await writeFile(join(volume, 'file'), 'new');
    expect(await readFile(await bind('file'), 'utf8')).toBe('new');
    await bind('inside');
    expect((await stat(path)).isDirectory()).toBe(true);
    expect(await mounted()).toEqual([path]);
  },
);

withVolume(
  'C26: missing directories of a subPath get the full mode of the volume, setgid and sticky included; existing ones retain theirs',
  async (place) => {
    const { volume, bind } = place;
    await chmod(volume, 0o3777);
    await chmod(join(volume, 'inside'), 0o2700);
    await bind('inside/a/./b/');
    const rights = async (name: string) => (await lstat(join(volume, name))).mode & 0o7777;
    expect([await rights('inside'), await rights('inside/a'), await rights('inside/a/b')]).toEqual([
      0o2700, 0o3777, 0o3777,
    ]);
    await chmod(volume, 0o755);
    await bind('inside/c');
    expect(await rights('inside/c')).toBe(0o755);
  },
);

withVolume('C26: a symlink within the volume is followed', async ({ volume, bind }) => {
  await symlink('inside', join(volume, 'link'));
  await bind('link/c');
  expect(await readdir(join(volume, 'inside'))).toEqual(['c']);
});

describe('C26: paths outside the volume are rejected, and nothing is created there', () => {
  for (const [what, subPath, target] of [
    ['a symlink', 'link', '../outside'],
    ['a symlink on the way', 'link/new', '../outside'],
    ['an absolute symlink', 'link/new', '/tmp'],
    ['a symlink to nothing', 'link', '../outside/later'],
    ['a symlink to a sibling whose name begins alike', 'link', '../volume-2'],
    ['a symlink to itself', 'link', 'link'],
  ] as const) {
    withVolume(what, async ({ volume, outside, bind, mounted }) => {
      await mkdir(`${volume}-2`);
      await symlink(target, join(volume, 'link'));
      await expect(bind(subPath)).rejects.toThrow();
      expect(await mounted()).toEqual([]);
      expect(await readdir(outside)).toEqual(['secret']);
      expect(await readdir(`${volume}-2`)).toEqual([]);
    });
  }
});

withVolume('a path through a file and a missing volume are rejected', async ({ volume, bind, mounted }) => {
  await expect(bind('file/a')).rejects.toThrow();
  await rm(volume, { recursive: true });
  await expect(bind('inside')).rejects.toThrow();
  expect(await mounted()).toEqual([]);
});

withVolume(
  'C26: a directory that is repeatedly replaced by a symlink during its mount never exposes paths outside the volume',
  async (place) => {
    const { volume, outside, bind, mounted } = place;
    await mkdir(join(outside, 'deep'));
    await writeFile(join(outside, 'deep', 'secret'), 'secret');
    await mkdir(join(volume, 'inside', 'deep'));
    await mkdir(join(volume, 'away'));
    // Replaces the directory by a symlink and back, as fast as possible. The directory is renamed to a new name each
    // time, and stays there if it cannot be renamed back.
    const swap = `const { renameSync, symlinkSync, unlinkSync } = require('node:fs');
    const attempt = (act, ...names) => { try { act(...names); } catch {} };
    for (let time = 0; ; time += 1) {
      attempt(renameSync, 'inside', 'away/' + time);
      attempt(symlinkSync, '../outside', 'inside');
      attempt(unlinkSync, 'inside');
      attempt(renameSync, 'away/' + time, 'inside');
    }`;
    const attacker = spawn(process.execPath, ['-e', swap], { cwd: volume, stdio: 'ignore' });
    const ended = new Promise((resolve) => attacker.once('exit', resolve));
    const seen = { refused: 0, mounted: 0 };
    try {
      // The attacker takes a while to start, so the loop continues until both outcomes have been observed.
      for (let time = 0; time < 60 || (time < 500 && (seen.refused === 0 || seen.mounted === 0)); time += 1) {
        // An existing path, a missing one, and the replaced directory itself, because a replacement interferes at a
        // different step of each mount.
        const subPath = ['inside/deep', `inside/new-${time}`, 'inside'][time % 3] ?? '';
        const path = await bind(subPath, time).catch(() => undefined);
        if (path === undefined) seen.refused += 1;
        else {
          seen.mounted += 1;
          expect(await readdir(path)).not.toContain('secret');
        }
      }
    } finally {
      attacker.kill('SIGKILL');
      await ended;
    }
    expect(await readdir(outside)).toEqual(['deep', 'secret']);
    expect(seen.refused).toBeGreaterThan(0);
    expect(seen.mounted).toBeGreaterThan(0);
    expect(await mounted()).toHaveLength(seen.mounted);
  },
);

withVolume(
  'C26: subPath mounts are unmounted with the volume, idempotently, and their targets remain',
  async (place) => {
    const { volume, layout, bind, remove, mounted } = place;
    await bind('inside', 0);
    await bind('file', 1);
    await remove();
    await remove();
    expect(await mounted()).toEqual([]);
    expect(await readdir(volume)).toEqual(['file', 'inside']);
    await expect(stat(layout.volumeSubPathsDir('u1', 'data'))).rejects.toMatchObject({ code: 'ENOENT' });
  },
);

withVolume(
  'C26: a mount that others made within a subPath is left alone, and blocks the removal until it is gone',
  async (place) => {
    const { volume, bind, remove, mounted } = place;
    const [inside, inner] = [join(volume, 'inside'), join(volume, 'inside', 'inner')];
    const tmpfs = (target: string) => mount({ source: 'tmpfs', type: 'tmpfs', options: [], target, signal });
    await tmpfs(inside);
    // A mount inside a shared mount propagates to all of its copies, and so does its removal.
    await execute('mount', ['--make-shared', inside]);
    await mkdir(inner);
    await bind('inside', 0);
    await tmpfs(inner);
    await expect(remove()).rejects.toMatchObject({ reason: 'FailedUnmount' });
    expect((await findMountAt(inner, signal))?.type).toBe('tmpfs');
    await unmount(inner, signal);
    await remove();
    expect(await mounted()).toEqual([]);
  },
);

withVolume(
  'C26: the subPath mounts of an orphaned pod are removed, and their targets remain',
  async ({ volume, layout, bind, mounted }) => {
    await writeFile(join(volume, 'inside', 'kept'), '');
    await claimPodDirectory({ layout, maker: makerIn(layout), pod: { uid: 'u1', namespace: 'default', name: 'web' } });
    await bind('inside');
    await removePodFiles({ uid: 'u1', layout, mounter, ownMark: makerIn(layout), plugins: volumePlugins, signal });
    expect(await mounted()).toEqual([]);
    expect(await readdir(join(volume, 'inside'))).toEqual(['kept']);
  },
);

withVolume(
  'a file inside a volume can be read, a missing one is undefined, and one outside or of another type is rejected',
  async (place) => {
    const { volume, outside } = place;
    await symlink('file', join(volume, 'link'));
    await symlink(join(outside, 'secret'), join(volume, 'out'));
    expect([await readFileWithin(volume, 'link', 4), await readFileWithin(volume, 'none/file', 4)]).toEqual([
      'mine',
      undefined,
    ]);
    await expect(readFileWithin(volume, 'out', 100)).rejects.toThrow('leads outside the volume');
    await expect(readFileWithin(volume, 'inside', 100)).rejects.toThrow('inside is not a file');
    await expect(readFileWithin(volume, 'file', 3)).rejects.toThrow('file is larger than 3 bytes');
    // The size of this file is reported as 0, as if it had grown since.
    await expect(readFileWithin('/proc', 'meminfo', 100)).rejects.toThrow('meminfo is larger than 100 bytes');
    expect(await readdir(volume)).not.toContain('none');
  },
);
