import { execFile } from 'node:child_process';
import { chmod, link, lstat, mkdir, mkdtemp, open, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { allocatedBytes, measureDiskUsage } from '../../../host/usage/diskUsage.ts';

const { signal } = new AbortController();
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'statelet-usage-'));
});

afterEach(async () => {
  await rm(folder, { recursive: true });
});

/** Returns the disk usage in bytes that coreutils report. */
const du = async (): Promise<number> => {
  const { stdout } = await promisify(execFile)('du', ['-s', '-x', '--block-size=1', folder]);
  return Number(stdout.split('\t')[0]);
};

test('counts like du: blocks, directories, links themselves, and a file with several names once', async () => {
  await mkdir(join(folder, 'a/b/c'), { recursive: true });
  await writeFile(join(folder, 'a/large'), Buffer.alloc(300_000, 1));
  await link(join(folder, 'a/large'), join(folder, 'a/b/again'));
  await symlink('/', join(folder, 'a/b/c/everything'));
  await writeFile(Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0xff, 0x20])]), 'no text for a name');
  expect(await measureDiskUsage(folder, signal)).toEqual({ bytes: await du(), inodes: 7 });
});

test('measures a single file', async () => {
  const file = join(folder, 'file');
  await writeFile(file, 'text');
  expect(await measureDiskUsage(file, signal)).toEqual({ bytes: allocatedBytes(await lstat(file)), inodes: 1 });
});

test('does not count a deleted file that a process still has open', async () => {
  const path = join(folder, 'concealed');
  const file = await open(path, 'w');
  try {
    await file.writeFile(Buffer.alloc(300_000, 1));
    await file.sync();
    const before = await measureDiskUsage(folder, signal);
    await rm(path);
    const { bytes, inodes } = await measureDiskUsage(folder, signal);
    expect([inodes, bytes <= before.bytes - 300_000]).toEqual([before.inodes - 1, true]);
  } finally {
    await file.close();
  }
});

test('an endless tree can be aborted', async () => {
  await Promise.all(Array.from({ length: 3_000 }, (_, at) => writeFile(join(folder, String(at)), '')));
  const end = new AbortController();
  setImmediate(() => end.abort(new Error('enough')));
  await expect(measureDiskUsage(folder, end.signal)).rejects.toThrow('enough');
  expect((await measureDiskUsage(folder, signal)).inodes).toBe(3_001);
});

test('deeply nested directories do not exhaust the descriptors', async () => {
  let deep = folder;
  for (let at = 0; at < 402; at += 1) deep = join(deep, 'd');
  await mkdir(deep, { recursive: true });
  await expect(measureDiskUsage(folder, signal)).rejects.toThrow('directories nest deeper than 400 levels');
});

test('rejects for a missing path', async () => {
  await expect(measureDiskUsage(join(folder, 'none'), signal)).rejects.toThrow('ENOENT');
});

test('skips the contents of unreadable directories', async () => {
  await chmod(folder, 0o755);
  await mkdir(join(folder, 'closed/inner'), { recursive: true });
  await chmod(join(folder, 'closed'), 0);
  await writeFile(join(folder, 'open'), 'text');
  process.seteuid?.(65_534);
  try {
    expect((await measureDiskUsage(folder, signal)).inodes).toBe(3);
  } finally {
    process.seteuid?.(0);
  }
});
