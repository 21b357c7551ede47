import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { prepareDirectories } from '../../../cri/managed/directories.ts';
import { layoutOf } from '../../../cri/managed/layout.ts';

test('rejects a directory with data of a different containerd, and accepts an empty one and its own', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'statelet-directories-'));
  try {
    const theirs = join(folder, 'theirs');
    await mkdir(join(theirs, 'io.containerd.content.v1.content'), { recursive: true });
    await expect(prepareDirectories(layoutOf(theirs))).rejects.toMatchObject({
      message: `${theirs} contains files that are not from a private containerd, such as io.containerd.content.v1.content: use another state directory`,
    });
    expect(await readdir(theirs)).toEqual(['io.containerd.content.v1.content']);
    const ours = join(folder, 'ours');
    await mkdir(ours);
    await prepareDirectories(layoutOf(ours));
    await mkdir(join(ours, 'root'));
    await expect(prepareDirectories(layoutOf(ours))).resolves.toBeUndefined();
  } finally {
    await rm(folder, { recursive: true });
  }
});
