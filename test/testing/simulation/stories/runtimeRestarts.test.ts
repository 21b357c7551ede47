/** The reported status of a pod survives a restart of the runtime, which may lose or rename containers. */
import { describe, expect, test } from '@jest/globals';
import { shortRunInvariants } from '../../../../testing/simulation/invariants/invariants.ts';
import { runtimeRestarts } from '../../../../testing/simulation/stories/pointed/coincidences.ts';
import { playPointed } from '../../../../testing/simulation/stories/pointed/playPointed.ts';

describe('no status regresses when', () => {
  test.each(Object.entries(runtimeRestarts))('%s', async (_, story) => {
    expect((await playPointed(story, { invariants: shortRunInvariants })).violation).toBeUndefined();
  });
});
