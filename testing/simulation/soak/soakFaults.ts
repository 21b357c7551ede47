/**
 * Plays short stories with every fault at each of their calls and every action at the time of each call or, in the
 * simpler stories, with faults at pairs of calls.
 */
import { randomInt } from 'node:crypto';
import { printableText } from '../../../base/text/printable.ts';
import { type Invariant, invariantTitle } from '../invariants/invariant.ts';
import { invariants as all, shortRunInvariants } from '../invariants/invariants.ts';
import { Random } from '../random.ts';
import { type PlayOptions, play } from '../stories/play.ts';
import { richStories } from '../stories/scenarios/richStories.ts';
import { shortStories } from '../stories/scenarios/shortStories.ts';
import type { Story } from '../stories/story.ts';
import { withEveryAction } from '../stories/variants/everyAction.ts';
import { recordCalls, type StoryCall, withEveryFault, withEveryPair } from '../stories/variants/everyFault.ts';
import { Findings } from './findings.ts';
import { REPLAYS_EVERY } from './soak.ts';

const REPORT_INTERVAL_MS = 60_000;

export interface SoakFaultsOptions {
  readonly faults: 'each' | 'pairs';
  /** The seed for the random faults at pairs of calls. */
  readonly seed?: number;
  /** Splits the stories among several processes. This one plays every `of`-th story, starting with `part`. */
  readonly part?: number;
  readonly of?: number;
  /** Default: all invariants, or for pairs those that a short story can break. */
  readonly invariants?: readonly Invariant[];
  /** The directory for findings. */
  readonly directory?: string;
  /** Stops after the current story. */
  readonly signal?: AbortSignal;
}

interface FaultsProgress {
  stories: number;
  steps: number;
  broken: number;
}

/** A short story with its title, and its variant with faults and actions. */
interface StoryVariant {
  readonly title: string;
  readonly story: Story;
  readonly variant: Story;
}

/**
 * Returns whether all invariants held. A story that breaks one or fails is printed and written to a file, and then the
 * next one is played.
 */
export async function soakFaults(options: SoakFaultsOptions): Promise<boolean> {
  const { faults, seed = randomInt(2 ** 31), part = 0, of = 1, signal, directory = '.' } = options;
  // There are a hundred times as many pairs, so their stories skip the comparison with a new agent, which the stories
  // with single faults cover.
  const isBrief = faults === 'pairs';
  const { invariants = isBrief ? shortRunInvariants : all } = options;
  console.log(`seed ${seed}, part ${part} of ${of}`);
  const soFar: FaultsProgress = { stories: 0, steps: 0, broken: 0 };
  const findings = new Findings(directory, signal);
  const startedAt = performance.now();
  let [reportedAt, number] = [startedAt, 0];
  const report = (title: string) => {
    reportedAt = performance.now();
    console.log(`${title}: ${progress(soFar, reportedAt - startedAt)}`);
  };
  const baseStories = isBrief ? shortStories : { ...shortStories, ...richStories };
  for (const [title, story] of Object.entries(baseStories)) {
    const calls = await recordCalls(story);
    const stories = faults === 'each' ? withEach(story, calls) : withEveryPair(story, calls, new Random(seed));
    for (const variant of stories) {
      number += 1;
      if (number % of !== part) continue;
      if (signal?.aborted) {
        report(`stopped by ${signal.reason} in '${title}'`);
        return soFar.broken === 0;
      }
      const replays = soFar.stories % REPLAYS_EVERY === 0;
      soFar.broken += (await breaks({ title, story, variant }, { invariants, isBrief, replays }, findings, soFar))
        ? 1
        : 0;
      if (performance.now() - reportedAt > REPORT_INTERVAL_MS) report(title);
    }
    report(title);
  }
  return soFar.broken === 0;
}

/** Plays a story and returns whether it broke an invariant or failed. Prints and writes the finding. */
async function breaks(
  storyVariant: StoryVariant,
  options: PlayOptions,
  findings: Findings,
  soFar: FaultsProgress,
): Promise<boolean> {
  const { variant } = storyVariant;
  soFar.stories += 1;
  try {
    const { violation, steps } = await play(variant, options);
    soFar.steps += steps;
    if (violation === undefined) return false;
    console.log(printableText(`${invariantTitle(violation)}: ${violation.message}: ${titleOf(storyVariant)}`));
    await findings.show({ story: variant, options, violation });
  } catch (error) {
    await findings.showError(titleOf(storyVariant), variant, error);
  }
  return true;
}

const progress = ({ stories, steps, broken }: FaultsProgress, ms: number): string =>
  `${stories} stories, ${steps} steps, ${Math.round((steps * 1_000) / ms)} a second, ${broken} broke an invariant`;

/** Yields a story with every fault at each call, and with every action at the time of each call. */
function* withEach(story: Story, calls: readonly StoryCall[]): Generator<Story> {
  yield* withEveryFault(story, calls);
  const times = calls.map(({ at }) => at);
  yield* withEveryAction(story, times);
}

/** Returns the title of the story with the added faults and actions. */
function titleOf({ title, story, variant: { faults, actions } }: StoryVariant): string {
  const added = [...faults, ...actions.filter((moment) => !story.actions.includes(moment))];
  return `'${title}' with ${JSON.stringify(added)}`;
}
