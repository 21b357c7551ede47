/** Tells a short story with every fault at each of its calls, and with faults and actions that are drawn. */
import { join } from 'node:path';
import { beforeAll, expect, jest, test } from '@jest/globals';
import { runProgram } from '../../../../host/program.ts';

/** What came of stories with faults. */
export interface Told {
  readonly told: number;
  /** What the first did that broke an invariant, as text. */
  readonly broken?: string;
}

/** How many stories were told; throws where one broke an invariant. */
function toldOf({ told, broken }: Told): number {
  if (broken !== undefined) throw new Error(broken);
  return told;
}

export interface ToldOfStory {
  /** The number of calls at which this run tries faults. */
  readonly calls: number;
  readonly ofOne: Told;
  readonly ofTwo: Told;
  readonly ofDeeds: Told;
}

const LIMIT_MS = 600_000;

async function tellStory(title: string, seed: number): Promise<ToldOfStory> {
  const { signal } = new AbortController();
  const file = join(import.meta.dirname, 'everyFaultProcess.ts');
  const args = ['--max-semi-space-size=32', '--disable-warning=ExperimentalWarning', file, title, String(seed)];
  // Of a program beside this one, so it is what it is said to be.
  return JSON.parse(await runProgram(process.execPath, args, { signal, timeoutMs: LIMIT_MS }));
}

/** Defines the tests of the story of this title. */
export function withEveryFault(title: string): void {
  let story: ToldOfStory;
  beforeAll(async () => {
    // All stories of a run have the same seed, because they share the selection of calls at which faults are tried.
    const seed = Math.abs(jest.getSeed());
    process.stderr.write(`faults and actions, '${title}': --seed ${seed}\n`);
    story = await tellStory(title, seed);
  }, LIMIT_MS);

  test(`every invariant holds with a fault at one call: ${title}`, () => {
    const { calls, ofOne } = story;
    expect(calls).toBeGreaterThan(60);
    // Each call fails or is slow, and with many of them the agent dies.
    expect(toldOf(ofOne)).toBeGreaterThan(1.5 * calls);
  });

  test(`every invariant holds with faults at two calls: ${title}`, () => {
    expect(toldOf(story.ofTwo)).toBe(5);
  });

  test(`every invariant holds with actions on the host: ${title}`, () => {
    expect(toldOf(story.ofDeeds)).toBe(10);
  });
}
