/**
 * Plays a short story with every kind of fault at each selected call, with faults at random pairs of calls, and with
 * random actions at the times of its calls. Prints the number of stories and the first violation. Runs as a separate
 * process, because a simulation is slower in Jest's context.
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
import type { FaultOutcomes, StoriesOutcome } from './everyFault.ts';

const PAIRS = 5;
const ACTION_COUNT = 10;

/** Plays the stories until one of them violates an invariant. */
async function playAll(stories: Iterable<Story>): Promise<StoriesOutcome> {
  let playedCount = 0;
  for (const story of stories) {
    const options = { invariants: shortRunInvariants, isBrief: true, replays: playedCount % REPLAYS_EVERY === 0 };
    playedCount += 1;
    const { violation } = await play(story, options);
    if (violation === undefined) continue;
    const found = await findViolation(story, options);
    const broken =
      found === undefined ? `${violation.message}: told once more it breaks nothing` : await saveFinding(found);
    return { playedCount, broken };
  }
  return { playedCount };
}

/** Saves a finding with its recording. Returns the description of the shortest story and the path of the file. */
async function saveFinding(found: Finding): Promise<string> {
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
const outcomes: FaultOutcomes = {
  calls: selectedCalls.size,
  singleFaults: await playAll(ones),
  faultPairs: await playAll(pairs),
  hostActions: await playAll(random.sample(actions, ACTION_COUNT)),
};
process.stdout.write(JSON.stringify(outcomes));
