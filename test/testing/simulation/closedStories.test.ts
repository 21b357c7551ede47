import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { runProgram } from '../../../host/program.ts';

const SEEDS = ['11', '12', '13'];

interface Outcome {
  readonly seed: number;
  readonly digest: string;
  readonly steps: number;
  readonly reached: readonly string[];
}

/** Plays the stories in a separate process. */
async function playStories(env: Readonly<Record<string, string>>): Promise<readonly Outcome[]> {
  const { signal } = new AbortController();
  const args = ['--disable-warning=ExperimentalWarning', join(import.meta.dirname, 'closedStories.ts'), ...SEEDS];
  const set = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  // The program in this folder prints JSON of this type.
  return JSON.parse(await runProgram('env', [...set, process.execPath, ...args], { signal, timeoutMs: 100_000 }));
}

test('a seed produces the same trace in every process, whatever its time zone and locale, without access to the host', async () => {
  const [first = [], second] = await Promise.all([
    playStories({ TZ: 'UTC', LANG: 'C' }),
    playStories({ TZ: 'Asia/Kathmandu', LANG: 'tr_TR.UTF-8', LC_ALL: 'tr_TR.UTF-8' }),
  ]);
  expect(first).toEqual(second);
  expect(first.flatMap(({ reached }) => reached)).toEqual([]);
  expect(new Set(first.map(({ digest }) => digest)).size).toBe(SEEDS.length);
  // Ensures that the stories are long enough for a difference to show.
  expect(first.reduce((sum, { steps }) => sum + steps, 0)).toBeGreaterThan(3_000);
}, 120_000);
