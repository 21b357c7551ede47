/**
 * Crashes of the API server, the agent and the runtime at random actions, with each write lost before or after it takes
 * effect.
 */
import { expect, test } from '@jest/globals';
import { simulatedCluster } from '../../../../testing/simulation/cluster/simulatedCluster.ts';
import { invariants } from '../../../../testing/simulation/invariants/invariants.ts';
import { play } from '../../../../testing/simulation/stories/play.ts';
import { clusterStory } from '../../../../testing/simulation/stories/scenarios/clusterStory.ts';

/** These stories are small. `npm run soak -- --cluster` plays more and larger ones. */
test.each([0, 1, 5])('every invariant holds in the random cluster story %i, which is also replayed', async (seed) => {
  const { violation, calls } = await play(clusterStory(seed), {
    invariants,
    replays: true,
    cluster: simulatedCluster,
  });
  expect(violation).toBeUndefined();
  expect(calls).toBeGreaterThan(500);
});

test('a seed produces the same story with the same trace', async () => {
  expect(clusterStory(10)).toEqual(clusterStory(10));
  const digestOf = async (seed: number) => {
    const { simulation } = await play(clusterStory(seed), { invariants: [], traces: true, cluster: simulatedCluster });
    return simulation.digest();
  };
  const [first, again, other] = [await digestOf(10), await digestOf(10), await digestOf(15)];
  expect(again).toBe(first);
  expect(other).not.toBe(first);
});

test('a node without a cluster rejects a story about a cluster', async () => {
  await expect(play(clusterStory(0), { invariants })).rejects.toThrow('this node belongs to no cluster');
});
