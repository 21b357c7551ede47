/**
 * A process of its own, where a simulation takes less than in the context of a test: tells a short story with every fault
 * at each of its calls, and then with faults that are drawn at two of them. Prints how many were told, and what the first
 * of them broke.
 */
import { invariants } from '../../../simulation/invariants/all.ts';
import { bounded } from '../../../simulation/invariants/bounded.ts';
import { Random } from '../../../simulation/random.ts';
import { callsOf, withDrawnPair, withEveryKindOfFault } from '../../../simulation/stories/everyFault.ts';
import { play } from '../../../simulation/stories/play.ts';
import { shortStories } from '../../../simulation/stories/shortStories.ts';
import type { Story } from '../../../simulation/stories/story.ts';
import type { Told, ToldOfStory } from './everyFault.ts';

const PAIRS = 60;
/** What an agent takes up in the long run is the matter of longer stories. */
const atOnce = invariants.filter((each) => each !== bounded);

/** Tells the stories up to the first that breaks an invariant. */
async function tell(stories: Iterable<Story>): Promise<Told> {
  let told = 0;
  for (const story of stories) {
    told += 1;
    const { violation } = await play(story, { invariants: atOnce, isBrief: true });
    if (violation !== undefined) return { told, broken: { faults: story.faults, violation } };
  }
  return { told };
}

const [, , title = '', seed = ''] = process.argv;
const story = shortStories[title];
if (story === undefined) throw new Error(`there is no short story '${title}'`);
const calls = await callsOf(story);
const random = new Random(Number(seed));
const pairs = Array.from({ length: PAIRS }, () => withDrawnPair(story, calls, random));
const told: ToldOfStory = {
  calls: calls.length,
  ofOne: await tell(withEveryKindOfFault(story, calls)),
  ofTwo: await tell(pairs),
};
process.stdout.write(JSON.stringify(told));
