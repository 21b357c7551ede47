/** Tells drawn stories to simulated nodes for as long as it is asked to, and stops at the first that breaks an invariant. */
import { randomInt } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { printable } from '../pod/show/printable.ts';
import { invariants } from './invariants/all.ts';
import { storyOfAnySize } from './stories/drawnStory.ts';
import { foundText, whatItBreaks } from './stories/found.ts';
import { type PlayOptions, play } from './stories/play.ts';
import type { Story } from './stories/story.ts';

const TELLS_EVERY_MS = 10_000;

/** The recordings of the first story are played again, and those of each so many stories on, which have all sizes. */
const REPLAYS_EVERY = 21;

interface Soaked {
  stories: number;
  replayed: number;
  steps: number;
  /** Milliseconds of node time. */
  lived: number;
}

/** Gives whether all invariants held. */
export async function soak({
  minutes,
  seed: first = randomInt(2 ** 31),
}: {
  readonly minutes: number;
  readonly seed?: number;
}): Promise<boolean> {
  const began = performance.now();
  const soaked: Soaked = { stories: 0, replayed: 0, steps: 0, lived: 0 };
  let toldAt = began;
  console.log(`seeds from ${first}`);
  for (let seed = first; performance.now() < began + minutes * 60_000; seed += 1) {
    const story = storyOfAnySize(seed);
    const options = { invariants, replays: soaked.stories % REPLAYS_EVERY === 0 };
    const { steps, elapsed, violation } = await play(story, options);
    soaked.stories += 1;
    soaked.replayed += options.replays ? 1 : 0;
    soaked.steps += steps;
    soaked.lived += elapsed;
    if (violation !== undefined) {
      await show(story, options);
      console.log(`${progress(soaked, began)}, an invariant was broken with seed ${seed}`);
      return false;
    }
    if (performance.now() - toldAt < TELLS_EVERY_MS) continue;
    toldAt = performance.now();
    console.log(progress(soaked, began));
  }
  console.log(`${progress(soaked, began)}, no violation with seeds ${first} to ${first + soaked.stories - 1}`);
  return true;
}

function progress({ stories, replayed, steps, lived }: Soaked, began: number): string {
  const rate = Math.round((steps * 1_000) / (performance.now() - began));
  const hours = (lived / 3_600_000).toFixed(1);
  return `${stories} stories, ${replayed} of them replayed, ${steps} steps, ${rate} a second, ${hours} hours of node time`;
}

/** Shows what a story breaks, as short as it can be told, and keeps it in a file. */
async function show(story: Story, options: PlayOptions): Promise<void> {
  const found = await whatItBreaks(story, options);
  if (found === undefined) return;
  console.log(printable(foundText(found)));
  await writeFile(`soak-${story.seed}.json`, `${JSON.stringify(found)}\n`);
}
