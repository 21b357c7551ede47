/** Tells a short story with every fault at each of its calls, and with faults and deeds that are drawn. */
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { runProgram } from '../../../host/program.ts';
import type { Violation } from '../../../simulation/invariants/invariant.ts';
import type { Fault, Moment } from '../../../simulation/stories/story.ts';

/** What came of stories with faults. */
export interface Told {
  readonly told: number;
  /** The first that broke an invariant. */
  readonly broken?: {
    readonly faults: readonly Fault[];
    readonly moments: readonly Moment[];
    readonly violation: Violation;
  };
}

export interface ToldOfStory {
  readonly calls: number;
  readonly ofOne: Told;
  readonly ofTwo: Told;
  readonly ofDeeds: Told;
}

const LIMIT_MS = 600_000;

async function toldOf(title: string, seed: number): Promise<ToldOfStory> {
  const { signal } = new AbortController();
  const file = join(import.meta.dirname, 'everyFaultProcess.ts');
  const args = ['--max-semi-space-size=32', '--disable-warning=ExperimentalWarning', file, title, String(seed)];
  // Of a program beside this one, so it is what it is said to be.
  return JSON.parse(await runProgram(process.execPath, args, { signal, limitMs: LIMIT_MS }));
}

/** Defines the tests of the story of this title. */
export function withEveryFault(title: string): void {
  let story: ToldOfStory;
  beforeAll(async () => {
    const seed = Math.floor(Math.random() * 2 ** 31);
    process.stderr.write(`faults and deeds, '${title}': seed ${seed}\n`);
    story = await toldOf(title, seed);
  }, LIMIT_MS);

  test(`every invariant holds whatever fails at one call: ${title}`, () => {
    const { calls, ofOne } = story;
    expect(ofOne.broken).toBeUndefined();
    expect(calls).toBeGreaterThan(150);
    // A look at the disk fails or hangs, and so on.
    expect(ofOne.told).toBeGreaterThan(2 * calls);
  });

  test(`every invariant holds whatever fails at two calls: ${title}`, () => {
    expect(story.ofTwo).toEqual({ told: 40 });
  });

  test(`every invariant holds whatever is done to the host: ${title}`, () => {
    expect(story.ofDeeds).toEqual({ told: 80 });
  });
}
