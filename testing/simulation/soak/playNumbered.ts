/** Plays numbered stories and yields which of them break an invariant. */

import type { Violation } from '../invariants/invariant.ts';
import { invariants } from '../invariants/invariants.ts';
import { type Outcome, play } from '../stories/play.ts';
import { adoptions } from '../stories/pointed/adoptions.ts';
import { ambiguousStates } from '../stories/pointed/ambiguousStates.ts';
import { claims } from '../stories/pointed/claims.ts';
import { devices } from '../stories/pointed/devices.ts';
import { corruptedManifests } from '../stories/pointed/files.ts';
import { temporaryPods } from '../stories/pointed/foreignPods.ts';
import { images } from '../stories/pointed/images.ts';
import { largePods } from '../stories/pointed/largePods.ts';
import { longLivedPods } from '../stories/pointed/longLivedPods.ts';
import { objects } from '../stories/pointed/objects.ts';
import { playPointed } from '../stories/pointed/playPointed.ts';
import { preemptions, recreations, resizes } from '../stories/pointed/resources.ts';
import { shortages } from '../stories/pointed/shortages.ts';
import { repeatedShutdowns, shutdowns } from '../stories/pointed/shutdowns.ts';
import { waits } from '../stories/pointed/waits.ts';
import { randomStory } from '../stories/random/randomStory.ts';
import { manyKinds } from '../stories/scenarios/manyKinds.ts';
import { shortStories } from '../stories/scenarios/shortStories.ts';

/** Pointed stories about adoption, waits, other agents' pods, growing data and ambiguous states. */
const pointed = Object.values({
  ...adoptions,
  ...waits,
  ...corruptedManifests,
  ...temporaryPods,
  ...longLivedPods,
  ...ambiguousStates,
});

/** Pointed stories with their own range of numbers, so that the numbers of random stories do not change. */
const furtherStories = {
  ...objects,
  ...largePods,
  ...recreations,
  ...images,
  ...shutdowns,
  ...preemptions,
  ...devices,
  ...claims,
  ...resizes,
  ...repeatedShutdowns,
  ...shortages,
};
const further = Object.values(furtherStories);

/** The titles of the further pointed stories, in the order of their numbers. */
export const furtherTitles: readonly string[] = Object.keys(furtherStories);

/**
 * Number of the first further pointed story. These stories are about nodes of a cluster, large pods, Deployments that
 * are recreated, images, hosts that shut down, preemptions, devices, claims, resizes, repeated shutdowns, and
 * shortages.
 */
export const FIRST_FURTHER = 1_000;

const short = [...Object.values(shortStories), manyKinds];

/** Plays the story with this number. The first numbers are short stories, followed by pointed ones and random ones. */
function playNumber(number: number): Promise<Outcome> {
  const options = { invariants };
  const first = short[number];
  if (first !== undefined) return play(first, options);
  const pointedStory = number < FIRST_FURTHER ? pointed[number - short.length] : further[number - FIRST_FURTHER];
  if (pointedStory !== undefined) return playPointed(pointedStory, options);
  return play(randomStory(number, { pods: 1 + (number % 4), actions: 14, faults: 6, lastsMs: 120_000 }), options);
}

/** Plays the stories with these numbers and yields each number with the violation, if any. */
export async function* playNumbered(
  numbers: Iterable<number>,
): AsyncGenerator<{ number: number; violation?: Violation }> {
  for (const number of numbers) {
    const { violation } = await playNumber(number);
    yield violation === undefined ? { number } : { number, violation };
  }
}
