import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { diskUsagesOf } from '../../../host/usage/diskUsages.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'statelet-usages-'));
  await Promise.all(Array.from({ length: 2_000 }, (_, at) => writeFile(join(folder, String(at)), '')));
});

afterEach(() => rm(folder, { recursive: true }));

test('each tree is answered in its place, be it that it cannot be counted', async () => {
  expect(await diskUsagesOf([join(folder, 'none'), folder, join(folder, '1')])).toEqual([
    { failure: expect.stringContaining('ENOENT') },
    { bytes: expect.any(Number), inodes: 2_001 },
    { bytes: 0, inodes: 1 },
  ]);
});

test('a tree that is too large leaves time for the others, but not for more than there is for all', async () => {
  const late = { failure: expect.stringMatching(/abort/i) };
  const small = { bytes: 0, inodes: 1 };
  expect(await diskUsagesOf([folder, join(folder, '1')], { eachMs: 0, allMs: 10_000 })).toEqual([late, small]);
  expect(await diskUsagesOf([folder, folder], { eachMs: 10_000, allMs: 0 })).toEqual([late, late]);
});
