import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { chooseSnapshotter } from '../../../cri/managed/host.ts';
import { run } from '../../../cri/managed/program.ts';
import { listMountsUnder } from '../../../host/files/mountinfo.ts';

const { signal } = new AbortController();

test('the overlay trial leaves nothing behind and removes the remains of an interrupted one', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'statelet-trial-'));
  const merged = join(directory, 'overlay-trial-abc123', 'merged');
  await mkdir(merged, { recursive: true });
  await run('mount', ['-t', 'tmpfs', 'trial', merged], { signal });
  await mkdir(join(directory, 'state'));
  try {
    expect(['overlayfs', 'native']).toContain(await chooseSnapshotter(directory, signal));
    expect(await listMountsUnder(directory, signal)).toEqual([]);
    expect(await readdir(directory)).toEqual(['state']);
  } finally {
    for (const { path } of await listMountsUnder(directory, signal)) await run('umount', [path], { signal });
    await rm(directory, { recursive: true });
  }
});
