import { dirname, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { type FileSystem, hostFiles } from '../../../host/files/fileSystem.ts';
import { fileError } from '../../../host/simulated/fileError.ts';
import { type Gate, openGate } from '../../../host/simulated/gate.ts';
import { MemoryDisk } from '../../../host/simulated/memoryDisk.ts';
import { MemoryFiles } from '../../../host/simulated/memoryFiles.ts';
import { hostMounter } from '../../../volume/mount/hostMounter.ts';
import type { Mounter } from '../../../volume/mount/mounter.ts';
import { SimulatedMounter } from '../../../volume/simulated/simulatedMounter.ts';
import { inFolder, signal, withRoot } from '../onDisk.ts';

interface Place {
  readonly mounter: Mounter;
  readonly files: FileSystem;
  /** Returns a path in the directory of the story. */
  readonly at: (path: string) => string;
}

type Story = (place: Place) => Promise<readonly unknown[]>;

/** Creates a volume with a directory and a file, and a secret outside of it to which symlinks point. */
async function fill({ files, at }: Place): Promise<void> {
  for (const each of ['volume/inside', 'volume-2', 'outside']) await files.mkdir(at(each), { recursive: true });
  await files.chmod(at('volume'), 0o3777);
  await files.writeFile(at('volume/file'), 'mine');
  await files.writeFile(at('outside/secret'), 'secret');
  const rights = { 'volume/inside': 0o700, 'volume/file': 0o644, outside: 0o755 };
  for (const [path, mode] of Object.entries(rights)) await files.chmod(at(path), mode);
  const links = { in: 'inside', file: 'file', out: '../outside', near: '../volume-2', self: 'self', later: 'none' };
  for (const [name, target] of Object.entries(links)) await files.symlink(target, at(`volume/to-${name}`));
  await files.symlink('self', at('volume/self'));
  await files.symlink('/outside/secret', at('volume/to-root'));
}

/** Returns the result of a call as text that does not depend on the directory. */
const outcomeText = async (at: Place['at'], answer: Promise<unknown>): Promise<unknown> => {
  const text = await answer.then(JSON.stringify, (error: unknown) => `refused: ${error}`);
  return text?.replaceAll(at(''), '/');
};

function memory(gate: Gate = openGate): Place {
  const disk = new MemoryDisk(() => 0);
  disk.createDirectories('/top/folder');
  return {
    mounter: new SimulatedMounter(disk, gate),
    files: new MemoryFiles(disk),
    at: (path) => join('/top/folder', path),
  };
}

/** Defines a test that a story has the same results on this host and in memory. */
function alike(name: string, story: Story): void {
  withRoot(name, () =>
    inFolder(async (folder) => {
      const host = { mounter: hostMounter, files: hostFiles, at: (path: string) => join(folder, path) };
      const simulated = memory();
      for (const each of [host, simulated]) await fill(each);
      const expected = await story(host);
      expect(expected.length).toBeGreaterThan(0);
      expect(await story(simulated)).toEqual(expected);
    }),
  );
}

const mount = (mounter: Mounter, target: string, type = 'tmpfs') =>
  mounter.mount({ source: type, type, target, options: [], signal });

const rightsOf = async (files: FileSystem, path: string) => {
  const { mode, gid } = await files.lstat(path);
  return `${(mode & 0o7777).toString(8)} ${gid}`;
};

describe('like on this host', () => {
  alike('a mount hides the directory below it until it is unmounted, once per mount', async (place) => {
    const { mounter, files, at } = place;
    const seen: unknown[] = [];
    const look = async () => {
      const mounts = files.mountsUnder(at('volume'), signal);
      seen.push(await outcomeText(at, mounter.mountAt(at('volume/inside'), signal)), await outcomeText(at, mounts));
      seen.push((await files.readdir(at('volume'))).sort(), await files.readdir(at('volume/inside')));
    };
    await look();
    await mount(mounter, at('volume/inside'));
    seen.push(await rightsOf(files, at('volume/inside')));
    await files.writeFile(at('volume/inside/new'), '');
    await look();
    await mount(mounter, at('volume'));
    await look().catch((error: unknown) => seen.push((error as NodeJS.ErrnoException).code));
    for (let time = 0; time < 2; time += 1) await mounter.unmount(at('volume'), signal);
    await look();
    for (let time = 0; time < 2; time += 1) await mounter.unmount(at('volume/inside'), signal);
    await look();
    return [...seen, await outcomeText(at, mounter.mountAt(at('none/none'), signal))];
  });

  alike('a mount inside a mount prevents the outer one from being unmounted', async ({ mounter, files, at }) => {
    await mount(mounter, at('volume'));
    await files.mkdir(at('volume/in'));
    await mount(mounter, at('volume/in'));
    const refused = await mounter.unmount(at('volume'), signal).catch((error) => error.reason);
    await mounter.unmount(at('volume/in'), signal);
    await mounter.unmount(at('volume'), signal);
    return [refused, await outcomeText(at, files.mountsUnder(at(''), signal))];
  });

  alike('C26: subpaths are mounted once, replaced ones again, and missing directories are created', async (place) => {
    const { mounter, files, at } = place;
    const target = at('pods/one');
    const bind = (subPath: string) =>
      mounter.runTasks([{ kind: 'bind', own: true, hostPath: at('volume'), subPath, target }], signal);
    const seen: unknown[] = [];
    for (const subPath of ['inside', 'inside', 'to-in/a/./b/', 'file', 'file', 'to-file', 'inside']) {
      seen.push(
        await bind(subPath),
        await outcomeText(
          at,
          mounter.mountAt(target, signal).then((found) => found?.path),
        ),
      );
    }
    seen.push((await files.mountsUnder(at('pods'), signal)).length, await rightsOf(files, dirname(target)));
    await bind('file');
    await files.unlink(at('volume/file'));
    await files.writeFile(at('volume/file'), 'new');
    seen.push(await files.readFile(target), await bind('file'), await files.readFile(target));
    for (const made of ['inside', 'inside/a', 'inside/a/b']) seen.push(await rightsOf(files, at(`volume/${made}`)));
    return seen;
  });

  alike('C26: a path that leads outside, or through a file, is rejected, and nothing is mounted', async (place) => {
    const { mounter, files, at } = place;
    const seen: unknown[] = [];
    for (const subPath of ['to-out', 'to-out/new', 'to-near', 'to-later', 'to-root', 'file/a', 'self/a']) {
      const task = { kind: 'bind', own: true, hostPath: at('volume'), subPath, target: at('pods/one') } as const;
      const [answer] = await mounter.runTasks([task], signal);
      seen.push([subPath, answer?.failure !== undefined]);
    }
    return [...seen, await outcomeText(at, files.mountsUnder(at('pods'), signal)), await files.readdir(at('outside'))];
  });

  alike(
    'a file inside a volume is read, and one that is too large, not a regular file or outside is rejected',
    async ({ mounter, at }) => {
      const paths = ['file', 'to-file', 'none', 'none/file', 'inside', 'to-out/secret', 'file/none', 'to-root'];
      const tasks = paths.map(
        (path) => ({ kind: 'read', own: true, hostPath: at('volume'), path, maxBytes: 9 }) as const,
      );
      const small = {
        ...tasks[0],
        kind: 'read',
        own: true,
        hostPath: at('volume'),
        path: 'file',
        maxBytes: 3,
      } as const;
      return mounter.runTasks([...tasks, small], signal);
    },
  );

  alike('fsGroup: the group owns the tree and new files in it', async ({ mounter, files, at }) => {
    const seen: string[] = [];
    const look = async () => {
      for (const each of ['', '/inside', '/file', '/to-out']) seen.push(await rightsOf(files, at(`volume${each}`)));
      seen.push(await rightsOf(files, at('outside')));
    };
    const own = { fsGroup: 4711, signal };
    await mounter.setOwnership(at('volume'), { ...own, readOnly: true });
    await look();
    await files.chmod(at('volume/file'), 0o600);
    await mounter.setOwnership(at('volume'), { ...own, readOnly: true, policy: 'OnRootMismatch' });
    await look();
    await mounter.setOwnership(at('volume'), { ...own, readOnly: false, policy: 'OnRootMismatch' });
    await look();
    return seen;
  });

  alike('the path of a hostPath volume is checked and created', async ({ mounter, at }) => {
    const kind = async (path: string) => (await mounter.fileTypeOf(at(path), signal)) ?? 'nothing';
    const seen: unknown[] = [];
    for (const path of ['volume', 'volume/file', 'volume/to-in', 'volume/to-later', 'none', 'volume/file/none']) {
      seen.push(await kind(path));
    }
    await mounter.create('directory', at('new/inner'), signal);
    await mounter.create('file', at('new/file'), signal);
    const made = [await kind('new/inner'), await kind('new/file')];
    return [
      ...seen,
      ...made,
      await mounter.create('file', at('not/there'), signal).then(
        () => 'made',
        () => 'refused',
      ),
    ];
  });
});

test('each call passes the gate and fails with the same messages as on a host', async () => {
  const calls: string[] = [];
  let isBusy = true;
  const gate: Gate = async ({ name, about, writes }, act) => {
    calls.push(`${writes ? 'write' : 'read'} ${name} ${about.replace('/top/folder/', '')}`);
    if (isBusy && name !== 'mountAt') throw fileError('EBUSY', name, about);
    return act();
  };
  const place = memory(gate);
  await fill(place);
  const { mounter, at } = place;
  await expect(mount(mounter, at('volume'))).rejects.toMatchObject({
    reason: 'FailedMount',
    message: expect.stringMatching(/^mounting tmpfs at .*volume: EBUSY/),
  });
  isBusy = false;
  await mount(mounter, at('volume'));
  isBusy = true;
  await expect(mounter.unmount(at('volume'), signal)).rejects.toMatchObject({
    reason: 'FailedUnmount',
    message: expect.stringMatching(/^unmounting .*volume: EBUSY/),
  });
  const [answer] = await mounter.runTasks(
    [{ kind: 'read', own: true, hostPath: at('volume'), path: 'file', maxBytes: 9 }],
    signal,
  );
  expect(answer?.failure).toMatch(/^EBUSY/);
  expect(calls).toEqual([
    'write mount volume',
    'write mount volume',
    'write unmount volume',
    'read mountAt volume',
    'read read volume/file',
  ]);
});

test('a hanging call is abandoned when its signal aborts', async () => {
  const { mounter, at } = memory(() => new Promise(() => {}));
  const abort = new AbortController();
  const hung = mounter.unmount(at(''), abort.signal);
  abort.abort(new Error('given up'));
  await expect(hung).rejects.toThrow('given up');
});

test('mounts survive the agent', async () => {
  const disk = new MemoryDisk(() => 0);
  disk.createDirectories('/volume');
  await mount(new SimulatedMounter(disk, openGate), '/volume');
  expect(await new SimulatedMounter(disk, openGate).mountAt('/volume', signal)).toEqual({
    path: '/volume',
    type: 'tmpfs',
  });
});

test('C26: an existing bind mount is preserved', async () => {
  const disk = new MemoryDisk(() => 0);
  disk.createDirectories('/volume/inside');
  const mounter = new SimulatedMounter(disk, openGate);
  const task = { kind: 'bind', own: true, hostPath: '/volume', subPath: 'inside', target: '/pods/one' } as const;
  await mounter.runTasks([task], signal);
  const before = disk.mounts;
  await mounter.runTasks([task], signal);
  expect(disk.mounts).toHaveLength(1);
  expect(disk.mounts[0]).toBe(before[0]);
});

test('a partial change of ownership leaves the root unchanged', async () => {
  const disk = new MemoryDisk(() => 0);
  const files = new MemoryFiles(disk);
  await files.mkdir('/volume', { recursive: true });
  for (const name of ['a', 'b']) await files.writeFile(`/volume/${name}`, '');
  const inPart: Gate = async (_call, _act, partly) => {
    partly?.();
    throw fileError('ENOSPC', 'chown', '/volume');
  };
  const owned = new SimulatedMounter(disk, inPart).setOwnership('/volume', { fsGroup: 4711, readOnly: false, signal });
  await expect(owned).rejects.toThrow('ENOSPC');
  const groups = await Promise.all(['', '/a', '/b'].map(async (name) => (await files.stat(`/volume${name}`)).gid));
  expect(groups).toEqual([0, 4711, 0]);
});
