import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { measureDiskUsages } from '../../../host/usage/diskUsages.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'statelet-usages-'));
  await Promise.all(Array.from({ length: 2_000 }, (_, at) => writeFile(join(folder, String(at)), '')));
});

afterEach(() => rm(folder, { recursive: true }));

test('each tree is answered in its place, be it that it cannot be counted', async () => {
  expect(await measureDiskUsages([join(folder, 'none'), folder, join(folder, '1')])).toEqual([
    { failure: expect.stringContaining('ENOENT') },
    { bytes: expect.any(Number), inodes: 2_001 },
    { bytes: 0, inodes: 1 },
  ]);
});

test('a tree that is too large leaves time for the others, but not for more than there is for all', async () => {
  const late = { failure: expect.stringMatching(/abort/i) };
  const small = { bytes: 0, inodes: 1 };
  expect(await measureDiskUsages([folder, join(folder, '1')], { perTreeMs: 0, totalMs: 10_000 })).toEqual([
    late,
    small,
  ]);
  expect(await measureDiskUsages([folder, folder], { perTreeMs: 10_000, totalMs: 0 })).toEqual([late, late]);
});
