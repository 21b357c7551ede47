/**
 * A process of its own, where a simulation takes less than in the context of a test: tells a short story with every fault
 * at each of its calls, with faults that are drawn at two of them, and with deeds that are drawn at moments of them. Prints
 * how many were told, and what the first of them broke.
 */
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atOnce } from '../../../../testing/simulation/invariants/all.ts';
import { Random } from '../../../../testing/simulation/random.ts';
import { keepFound } from '../../../../testing/simulation/soak/keepFound.ts';
import { REPLAYS_EVERY } from '../../../../testing/simulation/soak/soak.ts';
import { withEveryDeed } from '../../../../testing/simulation/stories/everyDeed.ts';
import {
  beginAlike,
  callsOf,
  withDrawnPair,
  withEveryKindOfFault,
} from '../../../../testing/simulation/stories/everyFault.ts';
import { type Found, foundText, whatItBreaks } from '../../../../testing/simulation/stories/found.ts';
import { play } from '../../../../testing/simulation/stories/play.ts';
import { shortStories } from '../../../../testing/simulation/stories/shortStories.ts';
import type { Story } from '../../../../testing/simulation/stories/story.ts';
import type { Told, ToldOfStory } from './everyFault.ts';

const PAIRS = 15;
const DEEDS = 30;
/** What all stories begin with meets its faults in each of so many of them. */
const ALIKE_EVERY = 3;

/** Tells the stories up to the first that breaks an invariant. */
async function tell(stories: Iterable<Story>): Promise<Told> {
  let told = 0;
  for (const story of stories) {
    const options = { invariants: atOnce, isBrief: true, replays: told % REPLAYS_EVERY === 0 };
    told += 1;
    const { violation } = await play(story, options);
    if (violation === undefined) continue;
    const found = await whatItBreaks(story, options);
    const broken = found === undefined ? `${violation.message}: told once more it breaks nothing` : await kept(found);
    return { told, broken };
  }
  return { told };
}

/** What it is, as short as it can be told, and where that is kept with a recording. */
async function kept(found: Found): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'every-fault-'));
  return `${foundText(found)}\nkept in ${await keepFound(found, directory)}`;
}

const [, , title = '', seed = ''] = process.argv;
const story = shortStories[title];
if (story === undefined) throw new Error(`there is no short story '${title}'`);
const number = Object.keys(shortStories).indexOf(title);
const callsOfAll = await Promise.all(Object.values(shortStories).map(callsOf));
const calls = callsOfAll[number] ?? [];
const alike = beginAlike(callsOfAll);
const isToldHere = ({ faults: [fault] }: Story) =>
  fault !== undefined && (fault.call >= alike || (fault.call + number) % ALIKE_EVERY === 0);
const random = new Random(Number(seed));
const deeds = [
  ...withEveryDeed(
    story,
    calls.map(({ at }) => at),
  ),
];
const ones = [...withEveryKindOfFault(story, calls, random.between(0, 100))].filter(isToldHere);
const pairs = Array.from({ length: PAIRS }, () => withDrawnPair(story, calls, random));
const told: ToldOfStory = {
  calls: calls.length,
  ofOne: await tell(ones),
  ofTwo: await tell(pairs),
  ofDeeds: await tell(random.some(deeds, DEEDS)),
};
process.stdout.write(JSON.stringify(told));
