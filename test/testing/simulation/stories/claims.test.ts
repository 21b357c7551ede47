/** Stories of resource claims keep every invariant, and each invariant of claims can be broken. */
import { describe, expect, test } from '@jest/globals';
import { invariants } from '../../../../testing/simulation/invariants/invariants.ts';
import { claims } from '../../../../testing/simulation/stories/pointed/claims.ts';
import { playPointed } from '../../../../testing/simulation/stories/pointed/playPointed.ts';

describe('keeps every invariant', () => {
  test.each(Object.entries(claims))('C50: %s', async (_, story) => {
    const { violation } = await playPointed(story, { invariants });
    expect(violation).toBeUndefined();
  });
});
