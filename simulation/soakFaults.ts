/**
 * Tells the short stories to the end: with every fault at each of their calls and every deed at each moment of these, or
 * with a fault at each of every pair of their calls.
 */
import { randomInt } from 'node:crypto';
import { printable } from '../pod/show/printable.ts';
import { Finds } from './finds.ts';
import { invariants as all } from './invariants/all.ts';
import type { Invariant, Violation } from './invariants/invariant.ts';
import { Random } from './random.ts';
import { withEveryDeed } from './stories/everyDeed.ts';
import { type CallOfStory, callsOf, withEveryFault, withEveryPair } from './stories/everyFault.ts';
import { play } from './stories/play.ts';
import { shortStories } from './stories/shortStories.ts';
import type { Story } from './stories/story.ts';

const TELLS_EVERY_MS = 60_000;

export interface SoakFaultsOptions {
  readonly faults: 'each' | 'pairs';
  /** Draws the faults of pairs. */
  readonly seed?: number;
  /** Several processes can share the stories: this one tells each `of`-th from `part` on. */
  readonly part?: number;
  readonly of?: number;
  /** What has to hold; absent: all that is known. */
  readonly invariants?: readonly Invariant[];
  /** Where what is found is kept. */
  readonly directory?: string;
  /** Ends it after the story that is being told. */
  readonly signal?: AbortSignal;
}

/** Gives whether all invariants held; what broke one is shown and kept, and the next story is told. */
export async function soakFaults(options: SoakFaultsOptions): Promise<boolean> {
  const { faults, seed = randomInt(2 ** 31), part = 0, of = 1, signal, invariants = all, directory = '.' } = options;
  console.log(`seed ${seed}, part ${part} of ${of}`);
  let [told, steps, broken, number] = [0, 0, 0, 0];
  const finds = new Finds(directory, signal);
  const began = performance.now();
  let toldAt = began;
  const tell = (title: string) => {
    const rate = Math.round((steps * 1_000) / (performance.now() - began));
    console.log(`${title}: ${told} stories, ${steps} steps, ${rate} a second, ${broken} broke an invariant`);
    toldAt = performance.now();
  };
  for (const [title, story] of Object.entries(shortStories)) {
    const calls = await callsOf(story);
    const stories = faults === 'each' ? withEach(story, calls) : withEveryPair(story, calls, new Random(seed));
    for (const each of stories) {
      number += 1;
      if (number % of !== part) continue;
      if (signal?.aborted) {
        tell(`stopped by ${signal.reason} in '${title}'`);
        return broken === 0;
      }
      const outcome = await play(each, { invariants });
      told += 1;
      steps += outcome.steps;
      if (outcome.violation !== undefined) {
        broken += 1;
        console.log(printable(brokenText(title, story, each, outcome.violation)));
        await finds.show({ story: each, options: { invariants }, violation: outcome.violation });
      }
      if (performance.now() - toldAt > TELLS_EVERY_MS) tell(title);
    }
    tell(title);
  }
  return broken === 0;
}

/** Every fault at each call, and every deed at each moment of a call. */
function* withEach(story: Story, calls: readonly CallOfStory[]): Generator<Story> {
  yield* withEveryFault(story, calls);
  const times = calls.map(({ at }) => at);
  yield* withEveryDeed(story, times);
}

function brokenText(title: string, story: Story, { faults, moments }: Story, { number, message }: Violation): string {
  const added = [...faults, ...moments.filter((each) => !story.moments.includes(each))];
  return `invariant ${number}: ${message}: '${title}' with ${JSON.stringify(added)}`;
}
