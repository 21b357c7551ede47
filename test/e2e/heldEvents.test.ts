/** Events of many pods at once at the API server, with real containers. They are delayed, but none is lost. */
import { expect, test } from '@jest/globals';
import { testCluster } from './support/cluster.ts';
import { eventually } from './support/eventually.ts';
import { forAllTests } from './support/forAllTests.ts';
import { manyNames, manyPods } from './support/manyPods.ts';

const cluster = await forAllTests(testCluster);

test('while pod starts are queued explain shows the deferred events, and afterwards each pod has its events', async () => {
  const pods = manyPods(cluster.server);
  await pods.make();
  const held = await eventually('events give way', async () => {
    const text = JSON.stringify(await cluster.node.ask('/explain/node'));
    return /"kind":"event queue"[^{}]*"state":"yielding"[^{}]*/.exec(text)?.[0];
  });
  expect(held).toContain('pods that are waiting to start, which go first');
  await eventually('all run', async () => (await pods.running()).length === manyNames.length);
  await eventually('all are told of', async () => (await pods.started()).length === manyNames.length);
  expect((await pods.started()).toSorted()).toEqual(manyNames.toSorted());
});
