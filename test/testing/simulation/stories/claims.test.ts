/** Stories of resource claims. The seeded faults of test/mutations/simulatedClaims.ts break their invariants. */
import { describe, expect, test } from '@jest/globals';
import { invariants } from '../../../../testing/simulation/invariants/invariants.ts';
import { claims } from '../../../../testing/simulation/stories/pointed/claims.ts';
import { playPointed } from '../../../../testing/simulation/stories/pointed/playPointed.ts';

describe('C50: a node whose pods have claims keeps every invariant', () => {
  test.each(Object.entries(claims))('%s', async (_, story) => {
    const { violation } = await playPointed(story, { invariants });
    expect(violation).toBeUndefined();
  });
});
