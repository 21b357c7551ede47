import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { runInVolumes } from '../../volume/inVolumes.ts';
import { signal } from './onDisk.ts';

let folder: string;
const { execPath } = process;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'statelet-volume-'));
  await writeFile(join(folder, 'a'), 'text');
});

afterEach(async () => {
  process.execPath = execPath;
  await rm(folder, { recursive: true });
});

const read = (own?: true) =>
  runInVolumes([{ kind: 'read', hostPath: folder, path: 'a', maxBytes: 9, ...(own ? { own } : {}) }], signal);

test('volumes of the node itself are accessed in this process, and others in a separate process', async () => {
  expect(await read()).toEqual([{ text: 'text' }]);
  process.execPath = join(folder, 'none');
  expect(await read(true)).toEqual([{ text: 'text' }]);
  await expect(read()).rejects.toThrow('ENOENT');
});

test('a failing task reports its error, and the other tasks run', async () => {
  const task = { kind: 'read', hostPath: folder, own: true, maxBytes: 9 } as const;
  expect(
    await runInVolumes(
      [
        { ...task, path: '../a' },
        { ...task, path: 'a' },
        { ...task, path: 'b' },
      ],
      signal,
    ),
  ).toEqual([{ failure: expect.any(String) }, { text: 'text' }, {}]);
});
