import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { seededRandom } from '../../../cri/simulated/objects/ids.ts';
import { errorCode } from '../../../host/files/fileErrors.ts';
import { type FileSystem, hostFiles } from '../../../host/files/fileSystem.ts';
import type { FileCall, FileFault } from '../../../host/simulated/faultyCalls.ts';
import { MemoryDisk } from '../../../host/simulated/memoryDisk.ts';
import { MemoryFiles } from '../../../host/simulated/memoryFiles.ts';

const NOW = Date.UTC(2026, 0, 1);
const { signal } = new AbortController();

/** Returns random numbers and choices from a seed. */
function dice(seed: number) {
  const random = seededRandom(seed);
  return {
    random,
    pick: <T>(from: readonly T[]): T => {
      const found = from[Math.floor(random() * from.length)];
      if (found === undefined) throw new Error('nothing to pick from');
      return found;
    },
  };
}

type Act = (files: FileSystem, at: (path: string) => string) => Promise<unknown>;

const stats = async (files: FileSystem, path: string) => {
  const found = await files.lstat(path);
  const kind = found.isFile() ? 'file' : found.isDirectory() ? 'directory' : 'link';
  return `${kind} ${kind === 'file' ? found.size : ''}`;
};

/** Returns a random call on paths of a few names, so that calls often use the same path. */
function call({ pick }: ReturnType<typeof dice>): { readonly what: string; readonly act: Act } {
  const path = () => Array.from({ length: pick([1, 1, 2, 2, 3]) }, () => pick(['a', 'b', 'c'])).join('/');
  const [one, other] = [path(), path()];
  const acts: Record<string, Act> = {
    mkdir: (files, at) => files.mkdir(at(one)),
    own: (files, at) => files.lchown(at(one), pick([-1, 4711]), pick([-1, 4712])),
    owners: async (files, at) => {
      const { uid, gid } = await files.lstat(at(one));
      return [uid, gid];
    },
    mkdirs: async (files, at) => (await files.mkdir(at(one), { recursive: true }))?.replace(at(''), ''),
    write: (files, at) => files.writeFile(at(one), `text of ${one}`),
    writeOpen: async (files, at) => {
      const file = await files.open(at(one), pick(['w', 'wx', 'a']), 0o600);
      await file.writeFile('open');
      await file.sync();
      await file.close();
    },
    read: (files, at) => files.readFile(at(one)),
    readSync: async (files, at) => files.readFileSync(at(one)),
    list: async (files, at) => (await files.readdir(at(one))).sort(),
    rename: (files, at) => files.rename(at(one), at(other)),
    rm: (files, at) => files.rm(at(one)),
    rmForced: (files, at) => files.rm(at(one), { force: true, recursive: true }),
    unlink: (files, at) => files.unlink(at(one)),
    link: (files, at) => files.symlink(at(other), at(one)),
    readlink: async (files, at) => (await files.readlink(at(one))).replace(at(''), ''),
    look: (files, at) => stats(files, at(one)),
    entries: async (files, at) =>
      (await files.entries(at(one)))
        .map((each) => `${each.name} ${each.isDirectory()} ${each.isSymbolicLink()}`)
        .sort(),
    tail: async (files, at) => (await files.tail(at(one), 5)).toString(),
    lookSync: async (files, at) => files.lstatSync(at(one))?.isDirectory(),
    removeTree: (files, at) => files.removeTree(at(one), signal),
    same: async (files, at) => files.isSamePathSync(at(one), at(other)),
    real: async (files, at) => (await files.realpath(at(one))).replace(at(''), ''),
  };
  const what = pick(Object.keys(acts));
  const act = acts[what];
  if (act === undefined) throw new Error(what);
  return { what: `${what} ${one} ${other}`, act };
}

async function outcome(act: Act, files: FileSystem, root: string): Promise<unknown> {
  try {
    return { answer: await act(files, (path) => join(root, path)) };
  } catch (error) {
    return { code: errorCode(error) ?? error };
  }
}

describe('a simulated disk behaves like that of the host', () => {
  let root = '';
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'statelet-memory-files-'));
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  test.each(Array.from({ length: 12 }, (_, i) => i + 1))(
    'in the results and errors of random operations (seed %i)',
    async (seed) => {
      const { random } = dice(seed);
      const disk = new MemoryDisk(() => NOW);
      const files = new MemoryFiles(disk);
      await files.mkdir(root, { recursive: true });
      const story: string[] = [];
      for (let step = 0; step < 400; step += 1) {
        const seedOfStep = random() * 2 ** 32;
        const { what, act } = call(dice(seedOfStep));
        const again = call(dice(seedOfStep)).act;
        const real = await outcome(act, hostFiles, root);
        const simulated = await outcome(again, files, root);
        story.push(`${what}: ${JSON.stringify(real)}`);
        expect({ story: story.slice(-12), is: simulated }).toEqual({ story: story.slice(-12), is: real });
      }
    },
  );
});

test('a directory with a mount in it is not deleted', async () => {
  const disk = new MemoryDisk(() => NOW);
  const files = new MemoryFiles(disk);
  const volume = '/pods/u1/volumes/memory';
  await files.mkdir(volume, { recursive: true });
  await files.symlink('/pods/u1', '/link');
  disk.mount('tmpfs', volume);
  expect(await files.mountsUnder('/link/volumes', signal)).toMatchObject([{ path: volume, type: 'tmpfs' }]);
  await expect(files.removeTree('/pods', signal)).rejects.toMatchObject({
    reason: 'FailedUnmount',
    message: `not deleting /pods: still mounted: ${volume}`,
  });
  disk.unmount(volume);
  await files.removeTree('/pods', signal);
  expect(files.readdirSync('/')).toEqual(['link']);
});

describe('a failing call', () => {
  const withFault = async (faulty: FileCall['call'], fault: FileFault) => {
    const files = new MemoryFiles(new MemoryDisk(() => NOW), ({ call }) => (call === faulty ? fault : undefined));
    await files.writeFile('/file', 'old');
    return files;
  };

  test('has an error like that of Node.js', async () => {
    const files = await withFault('rename', { code: 'EIO' });
    await expect(files.rename('/file', '/other')).rejects.toMatchObject({
      code: 'EIO',
      syscall: 'rename',
      path: '/file',
      message: "EIO: i/o error, rename '/file'",
    });
    expect(files.readdirSync('/')).toEqual(['file']);
  });

  test('may have taken effect', async () => {
    const files = await withFault('rename', { code: 'EIO', done: true });
    await expect(files.rename('/file', '/other')).rejects.toMatchObject({ code: 'EIO' });
    expect(files.readdirSync('/')).toEqual(['other']);
  });

  test('may never complete and not take effect', async () => {
    const files = await withFault('rename', { hangs: true });
    const answered = files.rename('/file', '/other').then(() => 'answered');
    const afterwards = new Promise((resolve) => setImmediate(resolve, 'nothing'));
    expect(await Promise.race([answered, afterwards])).toBe('nothing');
    expect(files.readdirSync('/')).toEqual(['file']);
  });
});

test('a full disk stores what fits and reports the error', async () => {
  const disk = new MemoryDisk(() => NOW);
  const files = new MemoryFiles(disk);
  disk.capacityBytes = 5;
  await expect(files.writeFile('/file', 'seven..')).rejects.toMatchObject({ code: 'ENOSPC' });
  expect(files.readFileSync('/file')).toBe('seven');
  await files.unlink('/file');
  await files.writeFile('/other', 'five.');
});

describe('a power failure', () => {
  /** Returns the possible contents of a file after a power failure, over many random draws. */
  async function outcomes(act: (files: FileSystem) => Promise<void>): Promise<string[]> {
    const seen = new Set<string>();
    for (let seed = 1; seed <= 100; seed += 1) {
      const disk = new MemoryDisk(() => NOW);
      const files = new MemoryFiles(disk);
      await act(files);
      disk.cutPower(dice(seed).random);
      seen.add(files.existsSync('/file') ? files.readFileSync('/file') : 'nothing');
    }
    return [...seen].sort();
  }

  test('leaves nothing, a part or all of unsynced data', async () => {
    expect(await outcomes((files) => files.writeFile('/file', 'new'))).toEqual([
      '',
      '\0\0\0',
      'n',
      'n\0\0',
      'ne',
      'ne\0',
      'new',
      'nothing',
    ]);
  });

  test('preserves synced data, and its name only if the directory is synced', async () => {
    const written = async (files: FileSystem) => {
      const file = await files.open('/file', 'w');
      await file.writeFile('new');
      await file.sync();
    };
    expect(await outcomes(written)).toEqual(['new', 'nothing']);
    const named = async (files: FileSystem) => {
      await written(files);
      await (await files.open('/', 'r')).sync();
    };
    expect(await outcomes(named)).toEqual(['new']);
  });

  test('preserves the first few changes of names across directories', async () => {
    const left = new Set<string>();
    for (let seed = 1; seed <= 50; seed += 1) {
      const disk = new MemoryDisk(() => NOW);
      const files = new MemoryFiles(disk);
      await files.mkdir('/new');
      await files.symlink('/target', '/new/link');
      await files.rename('/new', '/old');
      disk.cutPower(dice(seed).random);
      left.add(
        files
          .readdirSync('/')
          .flatMap((name) => [name, ...files.readdirSync(`/${name}`)])
          .join(' '),
      );
    }
    expect([...left].sort()).toEqual(['', 'new', 'new link', 'old link']);
  });

  test('preserves data that was written long before', async () => {
    let now = NOW;
    const disk = new MemoryDisk(() => now);
    const files = new MemoryFiles(disk);
    await files.writeFile('/file', 'new');
    now += 60_000;
    disk.cutPower(() => 0);
    await files.writeFile('/other', 'new');
    expect([files.readdirSync('/'), files.readFileSync('/file')]).toEqual([['file', 'other'], 'new']);
    disk.cutPower(() => 0);
    expect(files.readdirSync('/')).toEqual(['file']);
  });

  test('preserves data that was written long before, although the clock was set back meanwhile', async () => {
    let [now, elapsed] = [NOW, 0];
    const disk = new MemoryDisk(
      () => now,
      () => elapsed,
    );
    const files = new MemoryFiles(disk);
    await files.writeFile('/file', 'new');
    [now, elapsed] = [NOW - 3_600_000, 60_000];
    disk.cutPower(() => 0);
    expect(files.readFileSync('/file')).toBe('new');
  });
});
