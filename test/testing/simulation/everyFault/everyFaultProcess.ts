/**
 * Plays a short story with every kind of fault at each selected call, with faults at random pairs of calls, and with random
 * actions at the times of its calls. Prints the numbers of stories, and what the first violation was. Runs as a process,
 * because a simulation is slower in the context of a test.
 */
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { shortRunInvariants } from '../../../../testing/simulation/invariants/invariants.ts';
import { Random } from '../../../../testing/simulation/random.ts';
import { REPLAYS_EVERY } from '../../../../testing/simulation/soak/soak.ts';
import { writeFinding } from '../../../../testing/simulation/soak/writeFinding.ts';
import { type Finding, findViolation, formatFinding } from '../../../../testing/simulation/stories/findings/finding.ts';
import { play } from '../../../../testing/simulation/stories/play.ts';
import { shortStories } from '../../../../testing/simulation/stories/scenarios/shortStories.ts';
import type { Story } from '../../../../testing/simulation/stories/story.ts';
import { withEveryAction } from '../../../../testing/simulation/stories/variants/everyAction.ts';
import {
  recordCalls,
  selectCalls,
  withEveryKindOfFault,
  withRandomPair,
} from '../../../../testing/simulation/stories/variants/everyFault.ts';
import type { Told, ToldOfStory } from './everyFault.ts';

const PAIRS = 5;
const DEEDS = 10;

/** Tells the stories up to the first that breaks an invariant. */
async function tell(stories: Iterable<Story>): Promise<Told> {
  let told = 0;
  for (const story of stories) {
    const options = { invariants: shortRunInvariants, isBrief: true, replays: told % REPLAYS_EVERY === 0 };
    told += 1;
    const { violation } = await play(story, options);
    if (violation === undefined) continue;
    const found = await findViolation(story, options);
    const broken = found === undefined ? `${violation.message}: told once more it breaks nothing` : await kept(found);
    return { told, broken };
  }
  return { told };
}

/** What it is, as short as it can be told, and where that is kept with a recording. */
async function kept(found: Finding): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'every-fault-'));
  return `${formatFinding(found)}\nkept in ${await writeFinding(found, directory)}`;
}

const [, , title = '', seed = ''] = process.argv;
const story = shortStories[title];
if (story === undefined) throw new Error(`there is no short story '${title}'`);
const number = Object.keys(shortStories).indexOf(title);
const callsOfAll = await Promise.all(Object.values(shortStories).map(recordCalls));
const calls = callsOfAll[number] ?? [];
/**
 * The calls at which this run tries faults. No other story of the run tries their situations. `npm run soak -- --each`
 * tries all calls.
 */
const selectedCalls = selectCalls(callsOfAll, Number(seed))[number] ?? new Set();
const isSelected = ({ faults: [fault] }: Story) => fault !== undefined && selectedCalls.has(fault.call);
const random = new Random(Number(seed));
const actions = [
  ...withEveryAction(
    story,
    calls.map(({ at }) => at),
  ),
];
const ones = [...withEveryKindOfFault(story, calls, random.between(0, 100))].filter(isSelected);
const pairs = Array.from({ length: PAIRS }, () => withRandomPair(story, calls, random));
const told: ToldOfStory = {
  calls: selectedCalls.size,
  ofOne: await tell(ones),
  ofTwo: await tell(pairs),
  ofDeeds: await tell(random.sample(actions, DEEDS)),
};
process.stdout.write(JSON.stringify(told));
