/**
 * A process of its own, where a simulation takes less than in the context of a test: tells a short story with every fault
 * at each of its calls, with faults that are drawn at two of them, and with deeds that are drawn at moments of them. Prints
 * how many were told, and what the first of them broke.
 */
import { atOnce } from '../../../simulation/invariants/all.ts';
import { Random } from '../../../simulation/random.ts';
import { withEveryDeed } from '../../../simulation/stories/everyDeed.ts';
import { callsOf, withDrawnPair, withEveryKindOfFault } from '../../../simulation/stories/everyFault.ts';
import { play } from '../../../simulation/stories/play.ts';
import { shortStories } from '../../../simulation/stories/shortStories.ts';
import type { Story } from '../../../simulation/stories/story.ts';
import type { Told, ToldOfStory } from './everyFault.ts';

const PAIRS = 40;
const DEEDS = 80;

/** Tells the stories up to the first that breaks an invariant. */
async function tell(stories: Iterable<Story>): Promise<Told> {
  let told = 0;
  for (const story of stories) {
    told += 1;
    const { violation } = await play(story, { invariants: atOnce, isBrief: true });
    if (violation === undefined) continue;
    const { faults, moments } = story;
    return { told, broken: { faults, moments, violation } };
  }
  return { told };
}

const [, , title = '', seed = ''] = process.argv;
const story = shortStories[title];
if (story === undefined) throw new Error(`there is no short story '${title}'`);
const calls = await callsOf(story);
const random = new Random(Number(seed));
const deeds = [
  ...withEveryDeed(
    story,
    calls.map(({ at }) => at),
  ),
];
const pairs = Array.from({ length: PAIRS }, () => withDrawnPair(story, calls, random));
const told: ToldOfStory = {
  calls: calls.length,
  ofOne: await tell(withEveryKindOfFault(story, calls, random.between(0, 100))),
  ofTwo: await tell(pairs),
  ofDeeds: await tell(random.some(deeds, DEEDS)),
};
process.stdout.write(JSON.stringify(told));
