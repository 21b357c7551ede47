import { mkdtemp, open, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { findTailStart } from '../../../../kubelet-api/logs/container/findTailStart.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'statelet-tail-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function startOf(text: string, lines: number): Promise<number> {
  const file = join(folder, 'log');
  await writeFile(file, text);
  return startIn(file, lines);
}

async function startIn(file: string, lines: number, signal = new AbortController().signal): Promise<number> {
  const handle = await open(file);
  try {
    return await findTailStart(handle, lines, signal);
  } finally {
    await handle.close();
  }
}

/** Finds the start by counting all newlines. */
const expected = (text: string, lines: number): number => {
  const ends = [...text.matchAll(/\n/g)].map(({ index }) => index + 1);
  return [0, ...ends].at(-1 - lines) ?? 0;
};

test.each([
  ['nothing', ''],
  ['no newline', 'a'],
  ['newlines alone', '\n\n\n'],
  ['an unfinished line', 'a\nb\nc'],
  ['lines around blocks', `${'x'.repeat(1_023)}\n${'y'.repeat(1_024)}\n${'z'.repeat(2_046)}\n\n`],
  ['many lines', Array.from({ length: 20_000 }, (_, at) => `${'l'.repeat(at % 97)}\n`).join('')],
])('C40: the start of the last lines of a file with %s is found', async (_, text) => {
  for (const lines of [0, 1, 2, 3, 4, 500, 19_999, 20_000, 20_001])
    expect([lines, await startOf(text, lines)]).toEqual([lines, expected(text, lines)]);
});

test('a large empty file is searched only as long as its caller waits', async () => {
  const file = join(folder, 'sparse');
  await writeFile(file, 'first\n');
  await truncate(file, 10e9);
  const handle = await open(file, 'a');
  await handle.write('\nlast\n');
  await handle.close();
  expect(await startIn(file, 1)).toBe(10e9 + 1);
  const [soon, began] = [AbortSignal.timeout(50), performance.now()];
  await startIn(file, 5, soon);
  expect(performance.now() - began).toBeLessThan(5_000);
});
