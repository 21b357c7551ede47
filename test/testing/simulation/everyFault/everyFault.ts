/** Plays a short story with every fault at each of its calls, and with random faults and actions. */
import { join } from 'node:path';
import { beforeAll, expect, jest, test } from '@jest/globals';
import { runProgram } from '../../../../host/program.ts';

/** The outcome of stories with faults. */
export interface StoriesOutcome {
  readonly playedCount: number;
  /** Description of the first story that violated an invariant. */
  readonly broken?: string;
}

/** Returns the number of stories played. Throws if one of them violated an invariant. */
function playedCountOf({ playedCount, broken }: StoriesOutcome): number {
  if (broken !== undefined) throw new Error(broken);
  return playedCount;
}

export interface FaultOutcomes {
  /** The number of calls at which this run tries faults. */
  readonly calls: number;
  readonly singleFaults: StoriesOutcome;
  readonly faultPairs: StoriesOutcome;
  readonly hostActions: StoriesOutcome;
}

const LIMIT_MS = 600_000;

async function runStory(title: string, seed: number): Promise<FaultOutcomes> {
  const { signal } = new AbortController();
  const file = join(import.meta.dirname, 'everyFaultProcess.ts');
  const args = ['--max-semi-space-size=32', '--disable-warning=ExperimentalWarning', file, title, String(seed)];
  // The program in this folder prints JSON of this type.
  return JSON.parse(await runProgram(process.execPath, args, { signal, timeoutMs: LIMIT_MS }));
}

/** Defines the tests of the story with this title. */
export function withEveryFault(title: string): void {
  let story: FaultOutcomes;
  beforeAll(async () => {
    // All stories of a run have the same seed, because they share the selection of calls at which faults are tried.
    const seed = Math.abs(jest.getSeed());
    process.stderr.write(`faults and actions, '${title}': --seed ${seed}\n`);
    story = await runStory(title, seed);
  }, LIMIT_MS);

  test(`every invariant holds with a fault at one call: ${title}`, () => {
    const { calls, singleFaults } = story;
    expect(calls).toBeGreaterThan(60);
    // Each call fails or is slow, and at many of them the agent also crashes.
    expect(playedCountOf(singleFaults)).toBeGreaterThan(1.5 * calls);
  });

  test(`every invariant holds with faults at two calls: ${title}`, () => {
    expect(playedCountOf(story.faultPairs)).toBe(5);
  });

  test(`every invariant holds with actions on the host: ${title}`, () => {
    expect(playedCountOf(story.hostActions)).toBe(10);
  });
}
