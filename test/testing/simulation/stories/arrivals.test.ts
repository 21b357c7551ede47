/** Pods that reach the node together although they do not all fit are admitted in the kubelet's order. */
import { describe, expect, test } from '@jest/globals';
import type { Invariant } from '../../../../testing/simulation/invariants/invariant.ts';
import { shortRunInvariants } from '../../../../testing/simulation/invariants/invariants.ts';
import { playPointed } from '../../../../testing/simulation/stories/pointed/playPointed.ts';
import { arrivals } from '../../../../testing/simulation/stories/pointed/resources.ts';

/** Collects the names of the pods that are reported as rejected. */
function rejections() {
  const names = new Set<string>();
  const observer: Invariant = {
    description: 'Collects rejected pods.',
    follow: () => ({
      onReport: ({ name, status }) => {
        if (status.reason === 'OutOfcpu') names.add(name);
      },
    }),
  };
  return { names, observer };
}

describe('the oldest pod is admitted first', () => {
  test.each(Object.entries(arrivals))('%s', async (_, story) => {
    const { names, observer } = rejections();
    const { violation } = await playPointed(story, { invariants: [...shortRunInvariants, observer] });
    expect(violation).toBeUndefined();
    expect([...names]).toEqual(['web-1']);
  });
});
