/** Tells a short story with every fault at each of its calls, and then with faults that are drawn at two of them. */
import { expect, test } from '@jest/globals';
import { invariants } from '../../../simulation/invariants/all.ts';
import { bounded } from '../../../simulation/invariants/bounded.ts';
import { Random } from '../../../simulation/random.ts';
import { callsOf, withDrawnPair, withEveryKindOfFault } from '../../../simulation/stories/everyFault.ts';
import { play } from '../../../simulation/stories/play.ts';
import { shortStories } from '../../../simulation/stories/shortStories.ts';
import type { Story } from '../../../simulation/stories/story.ts';

/** What the story breaks with these faults; what an agent takes up in the long run is the matter of longer stories. */
async function brokenBy(story: Story): Promise<object> {
  const { violation } = await play(story, { invariants: atOnce, isBrief: true });
  return { faults: story.faults, violation };
}

const PAIRS = 60;
const atOnce = invariants.filter((each) => each !== bounded);

/** Defines the tests of the story of this title. */
export function withEveryFault(title: string): void {
  const story = shortStories[title];
  if (story === undefined) throw new Error(`there is no short story '${title}'`);

  test(`every invariant holds whatever fails at one call: ${title}`, async () => {
    const calls = await callsOf(story);
    expect(calls.length).toBeGreaterThan(150);
    for (const each of withEveryKindOfFault(story, calls))
      expect(await brokenBy(each)).toEqual({ faults: each.faults, violation: undefined });
  }, 600_000);

  test(`every invariant holds whatever fails at two calls: ${title}`, async () => {
    const calls = await callsOf(story);
    const seed = Math.floor(Math.random() * 2 ** 31);
    process.stderr.write(`pairs of faults, '${title}': seed ${seed}\n`);
    const random = new Random(seed);
    for (let pair = 0; pair < PAIRS; pair += 1) {
      const each = withDrawnPair(story, calls, random);
      expect(await brokenBy(each)).toEqual({ faults: each.faults, violation: undefined });
    }
  }, 600_000);
}
