import { chmod, lstat, mkdir, stat, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from '@jest/globals';
import { setOwnership } from '../../volume/ownership.ts';
import { inFolder, signal, withRoot } from './onDisk.ts';

const fsGroup = 4711;
const groupAndMode = async (file: string) => {
  const { gid, mode } = await lstat(file);
  return [gid, (mode & 0o7777).toString(8)];
};

/** Creates a directory that contains a directory, a file, and a symlink to a file outside. */
async function tree(folder: string) {
  const [root, outside] = [path.join(folder, 'volume'), path.join(folder, 'outside')];
  const [inner, file, link] = ['inner', 'inner/file', 'link'].map((name) => path.join(root, name));
  if (!inner || !file || !link) throw new TypeError('three paths');
  await mkdir(inner, { recursive: true });
  for (const each of [file, outside]) await writeFile(each, '');
  await symlink(outside, link);
  for (const each of [root, inner]) await chmod(each, 0o700);
  for (const each of [file, outside]) await chmod(each, 0o600);
  return { root, inner, file, link, outside };
}

withRoot(
  'fsGroup: the group owns and may write the whole tree and new files in it; symlinks are not followed',
  async () => {
    await inFolder(async (folder) => {
      const { root, inner, file, link, outside } = await tree(folder);
      await setOwnership(root, { fsGroup, readOnly: false, signal });
      expect(await groupAndMode(root)).toEqual([fsGroup, '2770']);
      expect(await groupAndMode(inner)).toEqual([fsGroup, '2770']);
      expect(await groupAndMode(file)).toEqual([fsGroup, '660']);
      expect((await lstat(link)).gid).toBe(fsGroup);
      expect(await groupAndMode(outside)).toEqual([0, '600']);
      expect((await stat(file)).uid).toBe(0);
    });
  },
);

withRoot('fsGroup: the group only gets read access to a read-only volume', async () => {
  await inFolder(async (folder) => {
    const { root, file } = await tree(folder);
    await setOwnership(root, { fsGroup, readOnly: true, signal });
    expect(await groupAndMode(root)).toEqual([fsGroup, '2750']);
    expect(await groupAndMode(file)).toEqual([fsGroup, '640']);
  });
});

withRoot(
  'fsGroupChangePolicy: OnRootMismatch leaves a tree with a matching root unchanged, Always does not',
  async () => {
    await inFolder(async (folder) => {
      const { root, file } = await tree(folder);
      await setOwnership(root, { fsGroup, readOnly: false, policy: 'OnRootMismatch', signal });
      expect(await groupAndMode(file)).toEqual([fsGroup, '660']);
      await chmod(file, 0o600);
      await setOwnership(root, { fsGroup, readOnly: false, policy: 'OnRootMismatch', signal });
      expect(await groupAndMode(file)).toEqual([fsGroup, '600']);
      await setOwnership(root, { fsGroup, readOnly: false, policy: 'Always', signal });
      expect(await groupAndMode(file)).toEqual([fsGroup, '660']);
      for (const spoil of [() => chmod(root, 0o770), () => chmod(root, 0o2750)]) {
        await chmod(file, 0o600);
        await spoil();
        await setOwnership(root, { fsGroup, readOnly: false, policy: 'OnRootMismatch', signal });
        expect(await groupAndMode(file)).toEqual([fsGroup, '660']);
      }
    });
  },
);
