/** Looks with which of many stories a node breaks an invariant. */
import { invariants } from './invariants/all.ts';
import type { Violation } from './invariants/invariant.ts';
import { drawnStory } from './stories/drawnStory.ts';
import { manyKinds } from './stories/manyKinds.ts';
import { play } from './stories/play.ts';
import { adoptions } from './stories/pointed/adoptions.ts';
import { doubts } from './stories/pointed/doubts.ts';
import { spoiled } from './stories/pointed/files.ts';
import { longLives } from './stories/pointed/longLives.ts';
import { visits } from './stories/pointed/others.ts';
import type { PointedStory } from './stories/pointed/pointedStory.ts';
import { waits } from './stories/pointed/waits.ts';
import { shortStories } from './stories/shortStories.ts';
import type { Story } from './stories/story.ts';
import { striking } from './stories/striking.ts';

/**
 * Those that lead to what a new agent has to leave as it is, to what a pod has to wait for, to other agents' pods, to what
 * a pod that lives on may not keep, and to what a doubt must not undo.
 */
const pointed = Object.values({ ...adoptions, ...waits, ...spoiled, ...visits, ...longLives, ...doubts });

/** A story by its number: the short ones first, one of many pods, some that are pointed, and then those that are drawn. */
function storyOf(number: number): Story & Partial<PointedStory> {
  const short = [...Object.values(shortStories), manyKinds];
  const first = [...short, ...pointed.map((story) => ({ seed: 1, faults: [], ...story }))];
  return first[number] ?? drawnStory(number, { pods: 1 + (number % 4), deeds: 14, faults: 6, lastsMs: 120_000 });
}

/** What a node does with each of these stories. */
export async function* hunt(numbers: Iterable<number>): AsyncGenerator<{ number: number; violation?: Violation }> {
  for (const number of numbers) {
    const { struck, ...story } = storyOf(number);
    const { violation } = await play(story, { invariants, ...(struck ? { faults: striking(struck) } : {}) });
    yield violation === undefined ? { number } : { number, violation };
  }
}
