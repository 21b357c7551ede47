import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import type { Layout } from '../../../host/pods/layout.ts';
import { removeLeftovers, removePodDirectory, removePodLogs } from '../../../host/pods/podDirectory.ts';
import {
  createMarkedDirectory,
  MARK_FILE,
  type Maker,
  readOwner,
  removedPath,
  writeMark,
} from '../../../host/pods/podMark.ts';
import { adoptPod, claimPodDirectory, hasOwnLogs, readPodDirectoryOwner } from '../../../host/pods/takePodDirectory.ts';
import { inFolder, makerIn, signal } from '../../volume/onDisk.ts';

const pod = { uid: 'u1', namespace: 'default', name: 'web' };

/** Runs a story in the root directory of an agent. */
const inRoot = (story: (place: { folder: string; layout: Layout; maker: Maker }) => Promise<void>) =>
  inFolder((folder, layout) => story({ folder, layout, maker: makerIn(layout) }));

/** Removes the stamp, which earlier versions of the agent did not write. */
async function removeStamp(directory: string): Promise<void> {
  const stamps = (await readdir(directory)).filter((name) => name.startsWith('.statelet-by-'));
  expect(stamps).toHaveLength(1);
  await Promise.all(stamps.map((name) => rm(path.join(directory, name), { recursive: true })));
}

const markOf = async (directory: string): Promise<unknown> =>
  JSON.parse(await readFile(path.join(directory, MARK_FILE), 'utf8'));

test('new directories and log directories have a mark with root, node, runtime and pod', async () => {
  await inRoot(async ({ layout, maker }) => {
    expect(await claimPodDirectory({ layout, maker, pod })).toBeUndefined();
    const mark = {
      root: maker.root,
      node: 'node-1',
      runtime: maker.runtime,
      pod: { namespace: 'default', name: 'web' },
    };
    expect(await markOf(layout.podDir('u1'))).toEqual(mark);
    expect(await markOf(layout.podLogDir(pod))).toEqual(mark);
    expect(await readdir(layout.podsDir)).toEqual(['u1']);
    expect(readPodDirectoryOwner(layout, maker, 'u1')).toMatchObject({
      kind: 'ours',
      pod: mark.pod,
      runtime: maker.runtime,
    });
    expect(await claimPodDirectory({ layout, maker, pod })).toBeUndefined();
  });
});

test("a directory at the mark's path is renamed, and the mark is written", async () => {
  await inRoot(async ({ layout, maker }) => {
    const directory = layout.podDir('u1');
    for (const name of ['first', 'second']) {
      await rm(path.join(directory, MARK_FILE), { force: true });
      await mkdir(path.join(directory, MARK_FILE, name), { recursive: true });
      await writeMark(directory, { layout, maker, pod });
      expect(readOwner(layout.files, directory, maker).kind).toBe('ours');
    }
    const places = ['.corrupt', '.corrupt-2'].map((ending) => `${MARK_FILE}${ending}`);
    expect((await readdir(directory)).toSorted()).toEqual([MARK_FILE, ...places]);
    const contents = await Promise.all(places.map((each) => readdir(path.join(directory, each))));
    expect(contents).toEqual([['first'], ['second']]);
  });
});

test('leftovers of a killed agent do not block the next creation', async () => {
  await inRoot(async ({ layout, maker }) => {
    await claimPodDirectory({ layout, maker, pod });
    const fresh = removedPath(layout.podDir('u1'), maker).replace('-old-', '-new-');
    await rename(layout.podDir('u1'), fresh);
    await writeFile(path.join(fresh, MARK_FILE), '{');
    await claimPodDirectory({ layout, maker, pod });
    expect(await readdir(layout.podsDir)).toEqual(['u1']);
    expect(readPodDirectoryOwner(layout, maker, 'u1').kind).toBe('ours');
  });
});

test('an unmarked directory is reported, and adopted with the logs of a pod that runs here', async () => {
  await inRoot(async ({ layout, maker }) => {
    const directory = layout.podDir('u1');
    const cases: [string, string, () => Promise<void>][] = [
      ['unmarked', "it does not have this agent's mark", async () => {}],
      ['unmarked', `its mark ${MARK_FILE} is damaged`, () => writeFile(path.join(directory, MARK_FILE), '[]')],
    ];
    for (const [kind, why, arrange] of cases) {
      await mkdir(directory, { recursive: true });
      await mkdir(layout.containerLogDir(pod, 'main'), { recursive: true });
      await writeFile(path.join(layout.containerLogDir(pod, 'main'), '0.log'), 'theirs');
      await arrange();
      expect(readPodDirectoryOwner(layout, maker, 'u1')).toMatchObject({ kind, why });
      await expect(claimPodDirectory({ layout, maker, pod })).rejects.toThrow(why);
      expect(await claimPodDirectory({ runsHere: true, layout, maker, pod })).toBeDefined();
      expect(readPodDirectoryOwner(layout, maker, 'u1').kind).toBe('ours');
      expect(hasOwnLogs({ layout, maker, pod })).toBe(true);
      expect(await readFile(path.join(layout.containerLogDir(pod, 'main'), '0.log'), 'utf8')).toBe('theirs');
      await rm(directory, { recursive: true });
      await rm(layout.podLogDir(pod), { recursive: true });
    }
  });
});

const CUT_OFF = ['', '\0\0', '{"root":"', '{"root":"\0\0'];

test('a stamp identifies the owner of a mark that was truncated by a power failure', async () => {
  await inRoot(async ({ layout, maker }) => {
    await claimPodDirectory({ layout, maker, pod });
    for (const directory of [layout.podDir('u1'), layout.podLogDir(pod)]) {
      for (const text of CUT_OFF) {
        await writeFile(path.join(directory, MARK_FILE), text);
        expect(readOwner(layout.files, directory, maker)).toMatchObject({ kind: 'ours', isTakenOver: false });
        for (const other of [{ root: '/elsewhere' }, { node: 'node-2' }]) {
          expect(readOwner(layout.files, directory, { ...maker, ...other }).kind).toBe('unmarked');
        }
      }
      // A mark that no power cut can have left belongs to nobody.
      await writeFile(path.join(directory, MARK_FILE), '[]');
      expect(readOwner(layout.files, directory, maker).kind).toBe('unmarked');
    }
  });
});

test('a truncated mark is rewritten for a wanted pod; without a stamp, only the name in it counts', async () => {
  await inRoot(async ({ layout, maker }) => {
    await claimPodDirectory({ layout, maker, pod });
    for (const directory of [layout.podDir('u1'), layout.podLogDir(pod)]) await removeStamp(directory);
    const marks = [layout.podDir('u1'), layout.podLogDir(pod)].map((directory) => path.join(directory, MARK_FILE));
    const whole = await readFile(marks[0] ?? '', 'utf8');
    for (const text of ['', '\0\0', whole.slice(0, 20), `${whole.slice(0, 20)}\0`, whole.slice(0, -3)]) {
      for (const mark of marks) await writeFile(mark, text);
      expect(readPodDirectoryOwner(layout, maker, 'u1').kind).toBe(text.includes('"node"') ? 'ours' : 'unmarked');
      expect(readPodDirectoryOwner(layout, { ...maker, root: '/elsewhere' }, 'u1').kind).toBe('unmarked');
      await claimPodDirectory({ layout, maker, pod });
      expect(await Promise.all(marks.map((mark) => readFile(mark, 'utf8')))).toEqual([whole, whole]);
    }
  });
});

test('a directory of another agent is claimed only when its pod is taken over', async () => {
  await inRoot(async ({ layout, maker }) => {
    const theirs = [
      [{ ...maker, root: '/elsewhere' }, 'created by the agent with the root directory /elsewhere'],
      [{ ...maker, node: 'node-2' }, 'created by the agent of node node-2'],
    ] as const;
    for (const [by, why] of theirs) {
      for (const directory of [layout.podDir('u1'), layout.podLogDir(pod)]) {
        await mkdir(directory, { recursive: true });
        await writeMark(directory, { layout, maker: by, pod });
        const message = `${directory} cannot be used as a pod directory: ${why}`;
        await expect(claimPodDirectory({ layout, maker, pod })).rejects.toMatchObject({ message });
        await adoptPod({ layout, maker, pod });
        expect(readOwner(layout.files, directory, maker)).toMatchObject({ kind: 'others', why });
        await mkdir(layout.podDir('u1'), { recursive: true });
        await adoptPod({ layout, maker, pod, isTakenOver: true });
        expect(readOwner(layout.files, directory, maker).kind).toBe('ours');
        expect(readPodDirectoryOwner(layout, maker, 'u1')).toMatchObject({ kind: 'ours', isTakenOver: true });
        await rm(layout.podDir('u1'), { recursive: true });
        await rm(layout.podLogDir(pod), { recursive: true, force: true });
      }
    }
  });
});

test('a pod with only a UID is adopted without logs and named when it is claimed', async () => {
  await inRoot(async ({ layout, maker }) => {
    await mkdir(layout.podDir('u1'), { recursive: true });
    const nameless = { uid: 'u1', namespace: 'unknown', name: 'u1' };
    await adoptPod({ layout, maker, pod: nameless, isTakenOver: true });
    await expect(readdir(layout.podLogDir(nameless))).rejects.toThrow('ENOENT');
    await claimPodDirectory({ layout, maker, pod });
    const { uid: _uid, ...named } = pod;
    expect(readPodDirectoryOwner(layout, maker, 'u1')).toMatchObject({ pod: named, isTakenOver: true });
    expect(hasOwnLogs({ layout, maker, pod })).toBe(true);
  });
});

test("a link or file at the directory's path is never used and preserved", async () => {
  await inRoot(async ({ folder, layout, maker }) => {
    const theirs = path.join(folder, 'theirs');
    await mkdir(theirs);
    await writeMark(theirs, { layout, maker, pod });
    await mkdir(layout.podsDir, { recursive: true });
    await symlink(theirs, layout.podDir('u1'));
    expect(readPodDirectoryOwner(layout, maker, 'u1')).toEqual({ kind: 'unusable', why: 'it is a symbolic link' });
    await expect(claimPodDirectory({ layout, maker, pod })).rejects.toMatchObject({
      message: `${layout.podDir('u1')} cannot be used as a pod directory: it is a symbolic link`,
    });
    await removePodDirectory({ layout, maker, signal }, 'u1');
    expect(await readdir(theirs)).toEqual([MARK_FILE]);
    expect(await readdir(layout.podsDir)).toEqual(['u1']);
  });
});

test('a root reached through a link is the same root, and a copied or moved one is not', async () => {
  await inRoot(async ({ folder, layout, maker }) => {
    await claimPodDirectory({ layout, maker, pod });
    await symlink(maker.root, path.join(folder, 'link'));
    const through = { ...maker, root: path.join(folder, 'link') };
    expect(readOwner(layout.files, path.join(through.root, 'pods', 'u1'), through).kind).toBe('ours');
    const moved = { ...maker, root: path.join(folder, 'moved') };
    await rename(maker.root, moved.root);
    expect(readOwner(layout.files, path.join(moved.root, 'pods', 'u1'), moved).kind).toBe('others');
  });
});

test('logs in an existing directory remain when the pod is removed, and those in a new one are removed', async () => {
  await inRoot(async ({ layout, maker }) => {
    const removal = { layout, maker, signal };
    await mkdir(layout.containerLogDir(pod, 'theirs'), { recursive: true });
    await claimPodDirectory({ layout, maker, pod });
    await removePodLogs(removal, pod);
    expect(await readdir(layout.podLogDir(pod))).toEqual(['theirs']);
    const next = { ...pod, uid: 'u2' };
    await claimPodDirectory({ layout, maker, pod: next });
    await removePodLogs(removal, next);
    expect(await readdir(path.dirname(layout.podLogDir(pod)))).toEqual([path.basename(layout.podLogDir(pod))]);
  });
});

test('a failed creation leaves nothing behind, even if the agent crashes', async () => {
  await inRoot(async ({ layout, maker }) => {
    await mkdir(path.join(layout.podDir('u1'), 'theirs'), { recursive: true });
    expect(await createMarkedDirectory(layout.podDir('u1'), { layout, maker, pod }, 0o750)).toBe(false);
    // JSON cannot contain this number, so writing the mark fails, as it does on a full disk.
    const unwritable = { layout, maker, pod: { ...pod, name: 1n as never } };
    await expect(createMarkedDirectory(layout.podDir('u2'), unwritable, 0o750)).rejects.toThrow('BigInt');
    expect(await readdir(layout.podsDir)).toEqual(['u1']);
    const fresh = removedPath(layout.podDir('u3'), maker).replace('-old-', '-new-');
    await mkdir(fresh);
    await removeLeftovers(layout.podsDir, { layout, maker: { ...maker, root: '/elsewhere' }, signal });
    expect(await readdir(layout.podsDir)).toContain(path.basename(fresh));
    await removeLeftovers(layout.podsDir, { layout, maker, signal });
    expect(await readdir(layout.podsDir)).toEqual(['u1']);
  });
});

test('an interrupted removal is completed, also without the mark, and not by another agent', async () => {
  await inRoot(async ({ layout, maker }) => {
    const removal = { layout, maker, signal };
    await claimPodDirectory({ layout, maker, pod });
    await mkdir(layout.volumesDir('u1'));
    const half = removedPath(layout.podDir('u1'), maker);
    await rename(layout.podDir('u1'), half);
    await rm(path.join(half, MARK_FILE));
    await removeLeftovers(layout.podsDir, { layout, maker: { ...maker, root: '/elsewhere' }, signal });
    expect(await readdir(layout.podsDir)).toEqual([path.basename(half)]);
    await removeLeftovers(layout.podsDir, removal);
    expect(await readdir(layout.podsDir)).toEqual([]);
  });
});

test('an interrupted creation is completed', async () => {
  await inRoot(async ({ layout, maker }) => {
    const fresh = removedPath(layout.podDir('u1'), maker).replace('-old-', '-new-');
    await mkdir(fresh, { recursive: true });
    await writeFile(path.join(fresh, MARK_FILE), '{"ro');
    expect(await createMarkedDirectory(layout.podDir('u1'), { layout, maker, pod }, 0o750)).toBe(true);
    expect(readPodDirectoryOwner(layout, maker, 'u1')).toMatchObject({ kind: 'ours', pod: { name: pod.name } });
    expect(await readdir(layout.podsDir)).toEqual(['u1']);
  });
});

test('the directories of a pod and its logs are created concurrently without failing calls', async () => {
  await inRoot(async ({ layout, maker }) => {
    await claimPodDirectory({ layout, maker, pod: { ...pod, uid: 'u0', name: 'before' } });
    const { promise: both, resolve } = Promise.withResolvers<void>();
    let writes = 0;
    const failed: unknown[] = [];
    const files = {
      ...layout.files,
      mkdir: async (...given: Parameters<typeof layout.files.mkdir>) => {
        const making = layout.files.mkdir(...given);
        making.catch((error: unknown) => failed.push(error));
        return making;
      },
      writeFile: async (...given: Parameters<typeof layout.files.writeFile>) => {
        writes += 1;
        if (writes === 2) resolve();
        await both;
        await layout.files.writeFile(...given);
      },
    };
    await claimPodDirectory({ layout: { ...layout, files }, maker, pod });
    expect(failed).toEqual([]);
    expect(readPodDirectoryOwner(layout, maker, 'u1').kind).toBe('ours');
    expect(hasOwnLogs({ layout, maker, pod })).toBe(true);
  });
});
