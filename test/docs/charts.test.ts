import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { printCharts } from '../../cli/commands/record/charts.ts';
import { root } from '../support/root.ts';

const docs = join(root, 'docs/charts');
let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'statelet-charts-'));
});
afterEach(() => rm(directory, { recursive: true }));

const pagesIn = async (place: string): Promise<Record<string, string>> =>
  Object.fromEntries(
    await Promise.all((await readdir(place)).map(async (file) => [file, await readFile(join(place, file), 'utf8')])),
  );

test('docs/charts is current: `npm run charts` writes it', async () => {
  await printCharts({ output: directory }, () => {
    throw new Error('pages are written to files only');
  });
  expect(await pagesIn(docs)).toEqual(await pagesIn(directory));
});

test('charts prints one machine by its name, and an unknown name is a user error', async () => {
  let printed = '';
  const write = (text: string) => {
    printed += text;
  };
  await printCharts({ name: 'limiter' }, write);
  expect(printed).toMatch(/^%% limiter: .*\nstateDiagram-v2\n/);
  expect(printed).toContain('open --> full : [isFull]');
  await expect(printCharts({ name: 'limiters' }, write)).rejects.toThrow(
    'limiters: unknown machine, expected one of nodeAgent,',
  );
});
