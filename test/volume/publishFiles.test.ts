import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { hostFiles } from '../../host/files/fileSystem.ts';
import { publishFiles } from '../../volume/publishFiles.ts';

const { signal } = new AbortController();
const now = Date.parse('2026-11-21T22:36:07.890Z');
let volume: string;

beforeEach(async () => {
  volume = await mkdtemp(join(tmpdir(), 'statelet-atomic-'));
});

afterEach(() => rm(volume, { recursive: true }));

/** Publishes files, given as path and text. */
function show(files: Record<string, string>, beforeShown: () => Promise<void> = async () => {}) {
  const list = Object.entries(files).map(([path, text]) => ({ path, data: Buffer.from(text), mode: 0o640 }));
  return publishFiles(hostFiles, volume, { files: list, now, onBeforePublish: beforeShown, signal });
}

const text = (file: string) => readFile(join(volume, file), 'utf8');
const names = async () => (await readdir(volume)).filter((name) => !/^\.\.\d/.test(name)).sort();
const sets = async () => (await readdir(volume)).filter((name) => /^\.\.\d/.test(name));

test('every file is a link through ..data, which links to a directory named after the time', async () => {
  await show({ labels: 'a="1"', 'deep/er/name': 'web' });
  expect(await names()).toEqual(['..data', 'deep', 'labels']);
  expect(await readlink(join(volume, 'labels'))).toBe('..data/labels');
  expect(await readlink(join(volume, 'deep'))).toBe('..data/deep');
  expect(await readlink(join(volume, '..data'))).toMatch(/^\.\.2026_11_21_22_36_07\.\w+$/);
  expect([await text('labels'), await text('deep/er/name')]).toEqual(['a="1"', 'web']);
  expect((await stat(join(volume, 'labels'))).mode & 0o7777).toBe(0o640);
  expect((await stat(join(volume, '..data/'))).mode & 0o7777).toBe(0o755);
});

test('a change publishes a new directory, removes old files and the old directory, and exposes nothing incomplete', async () => {
  await show({ stays: '1', goes: '1', 'deep/goes': '1' });
  const [before] = await sets();
  await show({ stays: '2', comes: '2', 'deep/comes': '2' }, async () => {
    expect(await names()).toEqual(['..data', 'deep', 'goes', 'stays']);
    expect([await text('stays'), await text('deep/goes')]).toEqual(['1', '1']);
    expect(await sets()).toHaveLength(2);
  });
  expect(await names()).toEqual(['..data', 'comes', 'deep', 'stays']);
  expect([await text('stays'), await text('deep/comes')]).toEqual(['2', '2']);
  expect(await readdir(join(volume, 'deep'))).toEqual(['comes']);
  expect(await sets()).not.toContain(before);
  expect(await sets()).toHaveLength(1);
});

test('unchanged files are not written again', async () => {
  await show({ a: '1', 'b/c': '2' });
  const before = await readlink(join(volume, '..data'));
  const beforeShown = jest.fn(async () => {});
  await show({ 'b/c': '2', a: '1' }, beforeShown);
  expect(await readlink(join(volume, '..data'))).toBe(before);
  expect(beforeShown).not.toHaveBeenCalled();
});

test.each<[string, () => Promise<unknown>]>([
  ['in the middle of a set', () => mkdir(join(volume, '..2026_01_01_00_00_00.abc'))],
  ['before the new link was moved', () => symlink('nowhere', join(volume, '..data_tmp'))],
  ['before all links were made', () => rm(join(volume, 'a'))],
  ['before the old links were taken away', () => symlink('..data/old', join(volume, 'old'))],
  ['with its set gone', async () => rm(join(volume, await readlink(join(volume, '..data'))), { recursive: true })],
])('a write that was interrupted %s is repaired by the next write', async (_when, breakOff) => {
  await show({ a: '1' });
  await breakOff();
  await show({ a: '1' });
  expect(await names()).toEqual(['..data', 'a']);
  expect(await sets()).toHaveLength(1);
  expect(await text('a')).toBe('1');
});

test('foreign files are preserved', async () => {
  await writeFile(join(volume, 'own'), 'kept');
  await show({ a: '1' });
  expect(await text('own')).toBe('kept');
  expect((await lstat(join(volume, 'own'))).isFile()).toBe(true);
});

test('a failure before publication preserves the old files', async () => {
  await show({ a: '1' });
  await expect(show({ a: '2' }, () => Promise.reject(new Error('no group')))).rejects.toThrow('no group');
  expect(await text('a')).toBe('1');
  await show({ a: '2' });
  expect(await text('a')).toBe('2');
  expect(await sets()).toHaveLength(1);
});

test('a reader sees either the old or the new files', async () => {
  const files = (version: number) => ({ one: `${version}`, two: `${version}` });
  await show(files(0));
  let isOver = false;
  const seen = (async () => {
    const looks: string[] = [];
    while (!isOver) {
      // Resolve the link once, so that both files are read from the same set.
      const set = await readlink(join(volume, '..data'));
      const both = await Promise.all(['one', 'two'].map((name) => text(join(set, name)).catch(() => 'gone')));
      looks.push(new Set(both.filter((each) => each !== 'gone')).size > 1 ? `half: ${both}` : 'whole');
    }
    return looks;
  })();
  for (let version = 1; version < 50; version += 1) await show(files(version));
  isOver = true;
  expect(new Set(await seen)).toEqual(new Set(['whole']));
  await chmod(volume, 0o755);
});
