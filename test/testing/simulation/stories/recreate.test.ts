/** A Deployment with the strategy Recreate whose pod fills the node. Its replacement must not be rejected (C9). */
import { describe, expect, test } from '@jest/globals';
import { shortRunInvariants } from '../../../../testing/simulation/invariants/invariants.ts';
import { playPointed } from '../../../../testing/simulation/stories/pointed/playPointed.ts';
import { recreations } from '../../../../testing/simulation/stories/pointed/resources.ts';

describe('C9: the next pod of a Deployment whose pod fills the node is not rejected', () => {
  test.each(Object.entries(recreations))('%s', async (_, story) => {
    expect((await playPointed(story, { invariants: shortRunInvariants })).violation).toBeUndefined();
  });
});
