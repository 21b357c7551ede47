/** Plays numbered stories and returns which of them break an invariant. */
import { invariants } from '../invariants/all.ts';
import type { Violation } from '../invariants/invariant.ts';
import { drawnStory } from '../stories/drawnStory.ts';
import { manyKinds } from '../stories/manyKinds.ts';
import { type Outcome, play } from '../stories/play.ts';
import { playPointed } from '../stories/playPointed.ts';
import { adoptions } from '../stories/pointed/adoptions.ts';
import { crowds } from '../stories/pointed/crowds.ts';
import { doubts } from '../stories/pointed/doubts.ts';
import { spoiled } from '../stories/pointed/files.ts';
import { longLives } from '../stories/pointed/longLives.ts';
import { objects } from '../stories/pointed/objects.ts';
import { visits } from '../stories/pointed/others.ts';
import { recreations } from '../stories/pointed/resources.ts';
import { waits } from '../stories/pointed/waits.ts';
import { shortStories } from '../stories/shortStories.ts';

/** Pointed stories about adoption, waits, other agents' pods, growing data and ambiguous states. */
const pointed = Object.values({ ...adoptions, ...waits, ...spoiled, ...visits, ...longLives, ...doubts });

/** Stories with their own number range, so that the numbers of drawn stories do not change. */
const further = Object.values({ ...objects, ...crowds, ...recreations });

/**
 * First number of the further pointed stories: of nodes of a cluster, of large pods, of Deployments that are recreated.
 * New ones are added at the end, because seeded faults name stories by number.
 */
export const IN_CLUSTER = 1_000;

const short = [...Object.values(shortStories), manyKinds];

/** Plays the story with this number: short stories first, then pointed ones, then drawn ones. */
function told(number: number): Promise<Outcome> {
  const options = { invariants };
  const first = short[number];
  if (first !== undefined) return play(first, options);
  const found = number < IN_CLUSTER ? pointed[number - short.length] : further[number - IN_CLUSTER];
  if (found !== undefined) return playPointed(found, options);
  return play(drawnStory(number, { pods: 1 + (number % 4), deeds: 14, faults: 6, lastsMs: 120_000 }), options);
}

/** Plays the stories with these numbers. */
export async function* hunt(numbers: Iterable<number>): AsyncGenerator<{ number: number; violation?: Violation }> {
  for (const number of numbers) {
    const { violation } = await told(number);
    yield violation === undefined ? { number } : { number, violation };
  }
}
