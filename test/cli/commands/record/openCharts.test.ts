import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { openCharts } from '../../../../cli/commands/record/openCharts.ts';

let directory: string;
let said: string;
let opened: string[];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'statelet charts-'));
  said = '';
  opened = [];
});
afterEach(() => rm(directory, { recursive: true }));

const write = (text: string) => {
  said += text;
};
const desktop = (environment: Readonly<Record<string, string>>) => ({
  directory,
  environment,
  open: async (url: string) => {
    opened.push(url);
    throw new Error('there is no browser');
  },
});
const build = () => writeFile(join(directory, 'charts.html'), '');

test('charts --open opens the page at the requested machine, and always prints its address', async () => {
  await build();
  await openCharts({ name: 'pod' }, write, desktop({ WAYLAND_DISPLAY: 'wayland-0' }));
  expect(said).toMatch(/^file:\/\/\/.*statelet%20charts-.*\/charts\.html#pod\n$/);
  expect(opened).toEqual([said.trim()]);
});

test('without a desktop the address is printed and nothing is opened', async () => {
  await build();
  await openCharts({}, write, desktop({ DISPLAY: '' }));
  expect(said).toMatch(/^file:.*charts\.html\n$/);
  expect(opened).toEqual([]);
});

test('a missing page and a conflicting option are each reported in one line', async () => {
  await expect(openCharts({}, write, desktop({}))).rejects.toThrow(
    /^--open: .*charts\.html does not exist, expected the built page: npm run build$/,
  );
  await build();
  await expect(openCharts({ output: 'x' }, write, desktop({}))).rejects.toThrow(
    '--open and --output do not go together',
  );
  expect(said).toBe('');
});
