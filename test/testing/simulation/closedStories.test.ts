import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { runProgram } from '../../../host/program.ts';

const SEEDS = ['11', '12', '13'];

interface Told {
  readonly seed: number;
  readonly digest: string;
  readonly steps: number;
  readonly reached: readonly string[];
}

/** Tells the stories in a process of its own. */
async function told(env: Readonly<Record<string, string>>): Promise<readonly Told[]> {
  const { signal } = new AbortController();
  const args = ['--disable-warning=ExperimentalWarning', join(import.meta.dirname, 'closedStories.ts'), ...SEEDS];
  const set = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  // Of a program beside this one, so it is what it is said to be.
  return JSON.parse(await runProgram('env', [...set, process.execPath, ...args], { signal, timeoutMs: 100_000 }));
}

test('a seed produces the same trace in every process, whatever its time zone and locale, without access to the host', async () => {
  const [first = [], second] = await Promise.all([
    told({ TZ: 'UTC', LANG: 'C' }),
    told({ TZ: 'Asia/Kathmandu', LANG: 'tr_TR.UTF-8', LC_ALL: 'tr_TR.UTF-8' }),
  ]);
  expect(first).toEqual(second);
  expect(first.flatMap(({ reached }) => reached)).toEqual([]);
  expect(new Set(first.map(({ digest }) => digest)).size).toBe(SEEDS.length);
  // Long enough that a difference would show.
  expect(first.reduce((sum, { steps }) => sum + steps, 0)).toBeGreaterThan(3_000);
}, 120_000);
