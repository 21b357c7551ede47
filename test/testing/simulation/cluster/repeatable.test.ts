/** A story takes the same steps each time, however much real time passes in between. */
import { expect, test } from '@jest/globals';
import type { Invariant } from '../../../../testing/simulation/invariants/invariant.ts';
import { playPointed } from '../../../../testing/simulation/stories/pointed/playPointed.ts';
import { recreations } from '../../../../testing/simulation/stories/pointed/resources.ts';

const title = 'a pod takes the place of another that has completed while no agent was running';

/**
 * Plays the story, and pauses the process at each step. Returns the inputs of the actors, with the times of the node.
 */
async function entriesOf(pauseMs: number): Promise<readonly string[]> {
  const story = recreations[title];
  if (story === undefined) throw new Error(`no story: ${title}`);
  const entries: string[] = [];
  const observer: Invariant = {
    description: 'Records the entries.',
    follow: ({ host }) => ({
      onEntry: ({ actor, source }) => entries.push(`${host.clock.elapsed} ${actor} ${source}`),
      onStatus: () => {
        const end = performance.now() + pauseMs;
        while (performance.now() < end);
      },
    }),
  };
  await playPointed(story, { invariants: [observer], isBrief: true });
  return entries;
}

test('a node of a cluster takes the same steps on a slow machine', async () => {
  const entries = await entriesOf(0);
  expect(await entriesOf(15)).toEqual(entries);
});
