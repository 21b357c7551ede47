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

test('results are in the order of the trees, including failures', async () => {
  expect(await measureDiskUsages([join(folder, 'none'), folder, join(folder, '1')])).toEqual([
    { failure: expect.stringContaining('ENOENT'), ms: expect.any(Number) },
    { bytes: expect.any(Number), inodes: 2_001, ms: expect.any(Number) },
    { bytes: 0, inodes: 1, ms: expect.any(Number) },
  ]);
});

test('a large tree leaves time for the others within the total limit', async () => {
  const late = { failure: expect.stringMatching(/abort/i), ms: expect.any(Number) };
  const small = { bytes: 0, inodes: 1, ms: expect.any(Number) };
  expect(await measureDiskUsages([folder, join(folder, '1')], { perTreeTimeoutMs: 0, totalTimeoutMs: 10_000 })).toEqual(
    [late, small],
  );
  expect(await measureDiskUsages([folder, folder], { perTreeTimeoutMs: 10_000, totalTimeoutMs: 0 })).toEqual([
    late,
    late,
  ]);
});
