import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { createDirectory } from '../../../node/host/rootDirectory.ts';

test('only the root directory is closed to others: containers with their own users pass through its parents', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'statelet-root-'));
  try {
    await createDirectory(join(directory, 'lib', 'state', 'kubelet'));
    const modes = ['lib', 'lib/state', 'lib/state/kubelet'].map(async (path) => {
      const { mode } = await stat(join(directory, path));
      return (mode & 0o777).toString(8);
    });
    expect(await Promise.all(modes)).toEqual(['711', '711', '750']);
  } finally {
    await rm(directory, { recursive: true });
  }
});
