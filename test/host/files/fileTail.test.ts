import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readTail } from '../../../host/files/fileTail.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'statelet-tail-'));
});
afterAll(() => rm(directory, { recursive: true }));

test('returns the end of a file, or all of a short one', async () => {
  const file = join(directory, 'file');
  await writeFile(file, 'the whole of it');
  expect((await readTail(file, 100)).toString()).toBe('the whole of it');
  expect((await readTail(file, 5)).toString()).toBe('of it');
  await writeFile(file, '');
  expect(await readTail(file, 5)).toHaveLength(0);
});

test('rejects anything but a regular file without blocking', async () => {
  const pipe = join(directory, 'pipe');
  execFileSync('mkfifo', [pipe]);
  await expect(readTail(pipe, 5)).rejects.toThrow('not a regular file');
  await symlink('/etc/hostname', join(directory, 'link'));
  await expect(readTail(join(directory, 'link'), 5)).rejects.toThrow(/ELOOP/);
  await expect(readTail(join(directory, 'none'), 5)).rejects.toThrow(/ENOENT/);
});
