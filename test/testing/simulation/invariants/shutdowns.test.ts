import { describe, expect, test } from '@jest/globals';
import { invariants } from '../../../../testing/simulation/invariants/invariants.ts';
import { playPointed } from '../../../../testing/simulation/stories/pointed/playPointed.ts';
import { repeatedShutdowns, shutdowns } from '../../../../testing/simulation/stories/pointed/shutdowns.ts';

describe('C49: a simulated node whose host shuts down', () => {
  test.each(Object.entries({ ...shutdowns, ...repeatedShutdowns }))('keeps all invariants: %s', async (_, story) => {
    const { violation } = await playPointed(story, { invariants, records: true, replays: true });
    expect(violation).toBeUndefined();
  });
});
