import { describe, expect, test } from '@jest/globals';
import { invariants } from '../../../simulation/invariants/all.ts';
import { shortStories, withEveryFault } from '../../../simulation/stories/everyFault.ts';
import { play } from '../../../simulation/stories/play.ts';

/** Every so many of the faults are tried here; `npm run soak` has the time for more. */
const EVERY = 61;

describe('every invariant holds whatever fails at one call', () => {
  test.each(Object.entries(shortStories))(
    '%s',
    async (_, story) => {
      const { calls } = await play(story, { invariants });
      const all = [...withEveryFault(story, calls)];
      for (const each of all.filter((_story, index) => index % EVERY === 0)) {
        const { violation } = await play(each, { invariants });
        expect({ faults: each.faults, violation }).toEqual({ faults: each.faults, violation: undefined });
      }
    },
    120_000,
  );
});
