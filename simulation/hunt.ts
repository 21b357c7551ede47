/** Looks with which of many stories a node breaks an invariant. */
import { invariants } from './invariants/all.ts';
import type { Violation } from './invariants/invariant.ts';
import { drawnStory } from './stories/drawnStory.ts';
import { manyKinds } from './stories/manyKinds.ts';
import { play } from './stories/play.ts';
import { shortStories } from './stories/shortStories.ts';
import type { Story } from './stories/story.ts';

/** A story by its number: the short ones first, then one of many pods, and then those that are drawn. */
function storyOf(number: number): Story {
  return (
    [...Object.values(shortStories), manyKinds][number] ??
    drawnStory(number, { pods: 1 + (number % 4), deeds: 14, faults: 6, lastsMs: 120_000 })
  );
}

/** What a node does with each of these stories. */
export async function* hunt(numbers: Iterable<number>): AsyncGenerator<{ number: number; violation?: Violation }> {
  for (const number of numbers) {
    const { violation } = await play(storyOf(number), { invariants });
    yield violation === undefined ? { number } : { number, violation };
  }
}
