/**
 * Tells short stories to the end: with every fault at each of their calls and every deed at each moment of these, or,
 * those of pods that ask for little, with a fault at each of every pair of their calls.
 */
import { randomInt } from 'node:crypto';
import { printable } from '../../../base/printable.ts';
import { invariants as all, atOnce } from '../invariants/all.ts';
import { type Invariant, invariantTitle } from '../invariants/invariant.ts';
import { Random } from '../random.ts';
import { withEveryDeed } from '../stories/everyDeed.ts';
import { type CallOfStory, callsOf, withEveryFault, withEveryPair } from '../stories/everyFault.ts';
import { type PlayOptions, play } from '../stories/play.ts';
import { richStories } from '../stories/richStories.ts';
import { shortStories } from '../stories/shortStories.ts';
import type { Story } from '../stories/story.ts';
import { Finds } from './finds.ts';
import { REPLAYS_EVERY } from './soak.ts';

const TELLS_EVERY_MS = 60_000;

export interface SoakFaultsOptions {
  readonly faults: 'each' | 'pairs';
  /** Draws the faults of pairs. */
  readonly seed?: number;
  /** Several processes can share the stories: this one tells each `of`-th from `part` on. */
  readonly part?: number;
  readonly of?: number;
  /** What has to hold; absent: all that is known, and of pairs what is seen at once. */
  readonly invariants?: readonly Invariant[];
  /** Where what is found is kept. */
  readonly directory?: string;
  /** Ends it after the story that is being told. */
  readonly signal?: AbortSignal;
}

interface Told {
  stories: number;
  steps: number;
  broken: number;
}

/** One of the short stories, by its title, with the faults and deeds that it is told with. */
interface Telling {
  readonly title: string;
  readonly story: Story;
  readonly each: Story;
}

/**
 * Gives whether all invariants held; what broke one, or could not be told to its end, is shown and kept, and the next
 * story is told.
 */
export async function soakFaults(options: SoakFaultsOptions): Promise<boolean> {
  const { faults, seed = randomInt(2 ** 31), part = 0, of = 1, signal, directory = '.' } = options;
  // There are a hundred times as many: what a new agent makes of the host, each single fault shows.
  const isBrief = faults === 'pairs';
  const { invariants = isBrief ? atOnce : all } = options;
  console.log(`seed ${seed}, part ${part} of ${of}`);
  const told: Told = { stories: 0, steps: 0, broken: 0 };
  const finds = new Finds(directory, signal);
  const began = performance.now();
  let [toldAt, number] = [began, 0];
  const tell = (title: string) => {
    toldAt = performance.now();
    console.log(`${title}: ${progress(told, toldAt - began)}`);
  };
  const tellable = isBrief ? shortStories : { ...shortStories, ...richStories };
  for (const [title, story] of Object.entries(tellable)) {
    const calls = await callsOf(story);
    const stories = faults === 'each' ? withEach(story, calls) : withEveryPair(story, calls, new Random(seed));
    for (const each of stories) {
      number += 1;
      if (number % of !== part) continue;
      if (signal?.aborted) {
        tell(`stopped by ${signal.reason} in '${title}'`);
        return told.broken === 0;
      }
      const replays = told.stories % REPLAYS_EVERY === 0;
      told.broken += (await breaks({ title, story, each }, { invariants, isBrief, replays }, finds, told)) ? 1 : 0;
      if (performance.now() - toldAt > TELLS_EVERY_MS) tell(title);
    }
    tell(title);
  }
  return told.broken === 0;
}

/** Tells a story; shows and keeps what it breaks, or why it has no end. */
async function breaks(telling: Telling, options: PlayOptions, finds: Finds, told: Told): Promise<boolean> {
  const { each } = telling;
  told.stories += 1;
  try {
    const { violation, steps } = await play(each, options);
    told.steps += steps;
    if (violation === undefined) return false;
    console.log(printable(`${invariantTitle(violation)}: ${violation.message}: ${titleOf(telling)}`));
    await finds.show({ story: each, options, violation });
  } catch (error) {
    await finds.showError(titleOf(telling), each, error);
  }
  return true;
}

const progress = ({ stories, steps, broken }: Told, ms: number): string =>
  `${stories} stories, ${steps} steps, ${Math.round((steps * 1_000) / ms)} a second, ${broken} broke an invariant`;

/** Every fault at each call, and every deed at each moment of a call. */
function* withEach(story: Story, calls: readonly CallOfStory[]): Generator<Story> {
  yield* withEveryFault(story, calls);
  const times = calls.map(({ at }) => at);
  yield* withEveryDeed(story, times);
}

/** Which story it is, and what was added to it. */
function titleOf({ title, story, each: { faults, moments } }: Telling): string {
  const added = [...faults, ...moments.filter((moment) => !story.moments.includes(moment))];
  return `'${title}' with ${JSON.stringify(added)}`;
}
