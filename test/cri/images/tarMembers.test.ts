import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { listTarMembers, readAt } from '../../../cri/images/tarMembers.ts';
import { tar } from '../../../cri/managed/images/tar.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'statelet-tar-'));
});
afterEach(() => rm(directory, { recursive: true }));

async function membersOf(content: Buffer): Promise<{ name: string; content: string; isFile: boolean }[]> {
  const path = join(directory, 'archive.tar');
  await writeFile(path, content);
  const file = await open(path);
  try {
    const { members } = await listTarMembers(file);
    const contents = members.map(({ contentOffset, size }) => readAt(file, contentOffset, size));
    const texts = (await Promise.all(contents)).map(String);
    return members.map(({ name, isFile }, index) => ({ name, isFile, content: texts[index] ?? '' }));
  } finally {
    await file.close();
  }
}

const LONG = `${'directory/'.repeat(25)}file-${'x'.repeat(90)}`;

/** Returns an archive of GNU tar with a short name, a long one, a link and a directory. */
async function archived(format: string): Promise<Buffer> {
  const root = join(directory, 'files');
  await mkdir(join(root, LONG, '..'), { recursive: true });
  await writeFile(join(root, 'short'), 'one');
  await writeFile(join(root, LONG), 'two');
  const args = ['-C', root, `--format=${format}`, '-cf', '-', './short', LONG, '--sort=name'];
  return execFileSync('tar', args, { maxBuffer: 2 ** 24 });
}

test.each(['gnu', 'pax', 'posix'])('tar members with long names are read in the format %s', async (format) => {
  const members = await membersOf(await archived(format));
  expect(members).toEqual([
    { name: 'short', content: 'one', isFile: true },
    { name: LONG, content: 'two', isFile: true },
  ]);
});

test('links and directories have no content', async () => {
  execFileSync('sh', ['-c', 'mkdir d && ln -s target l && tar --format=ustar -cf a d l'], { cwd: directory });
  expect(await membersOf(await readFile(join(directory, 'a')))).toEqual([
    { name: 'd/', content: '', isFile: false },
    { name: 'l', content: '', isFile: false },
  ]);
});

test('an incomplete archive is reported with its problem', async () => {
  const whole = await archived('gnu');
  await expect(membersOf(Buffer.alloc(0))).rejects.toThrow(/^is empty$/);
  await expect(membersOf(Buffer.from('hello'))).rejects.toThrow(/^is not a tar archive$/);
  await expect(membersOf(Buffer.alloc(4_096, 'x'))).rejects.toThrow(/^is not a tar archive$/);
  await expect(membersOf(whole.subarray(0, 514))).rejects.toThrow(/^is truncated: it ends after 514 bytes/);
  await expect(membersOf(whole.subarray(0, 1_100))).rejects.toThrow(/^is truncated/);
  const damaged = Buffer.from(whole);
  damaged.write('garbage', 1_024);
  await expect(membersOf(damaged)).rejects.toThrow(/^is damaged: no tar header at byte 1024$/);
});

test('an archive without the empty blocks at its end is complete', async () => {
  const whole = await archived('gnu');
  const members = await membersOf(whole);
  const last = whole.lastIndexOf('two') + 512;
  expect(await membersOf(whole.subarray(0, last - (last % 512)))).toEqual(members);
});

test('rejects an archive with too many files', async () => {
  const header = tar([{ type: 'file', path: 'file', content: Buffer.alloc(0), mode: 0o644 }]).subarray(0, 512);
  await expect(membersOf(Buffer.concat(Array(100_001).fill(header)))).rejects.toThrow(/^has more than 100000 files$/);
});
