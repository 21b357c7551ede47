import { lstat, mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { keepPageLink } from '../../node/pageLink.ts';

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'statelet-link-'));
});

afterEach(() => rm(root, { recursive: true }));

test('the link is for its owner alone, and the next one takes its place', async () => {
  const file = await keepPageLink(root, 'https://192.0.2.1/?token=one');
  expect(file).toBe(join(root, 'statelet', 'page-link'));
  await keepPageLink(root, 'https://192.0.2.1/?token=two');
  expect(await readFile(file, 'utf8')).toBe('https://192.0.2.1/?token=two\n');
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

test('it goes nowhere that a link in its place leads to', async () => {
  const elsewhere = join(root, 'elsewhere');
  await writeFile(elsewhere, 'as it was');
  const file = join(root, 'statelet', 'page-link');
  await mkdir(dirname(file));
  await symlink(elsewhere, file);
  await keepPageLink(root, 'https://192.0.2.1/?token=one');
  expect(await readFile(elsewhere, 'utf8')).toBe('as it was');
  expect((await lstat(file)).isFile()).toBe(true);
});
