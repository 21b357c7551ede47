import { expect, test } from '@jest/globals';
import { simulatedNode } from '../fakes/node.ts';
import { podWith } from '../fakes/pods.ts';

const pods = (...names: readonly string[]) => names.map((name) => podWith(name));
const slowly = (delayMs: number) => ({ call: 'runPodSandbox', times: Number.POSITIVE_INFINITY, delayMs }) as const;

test('pods are on their way from the first start to the end of the last', async () => {
  const node = await simulatedNode({ config: { startSlots: 1 } });
  const isStarting = node.agent.arePodsStarting;
  expect(isStarting()).toBe(false);
  node.runtime.faults.add(slowly(1_500));
  for (const pod of pods('a', 'b', 'c')) node.apply(pod);
  for (let seconds = 1; seconds <= 4; seconds += 1) {
    await node.advance('1s');
    expect([seconds, isStarting()]).toEqual([seconds, true]);
  }
  await node.advance('2s');
  expect([node.pod('c').phase, isStarting()]).toEqual(['Running', false]);
});

test('those that do not get on are none for whom others would wait, until one more comes', async () => {
  const node = await simulatedNode({ config: { startSlots: 2 } });
  const isStarting = node.agent.arePodsStarting;
  node.runtime.faults.add({ call: 'runPodSandbox', hang: true });
  node.apply(podWith('hanging'));
  await node.advance('500ms');
  expect(isStarting()).toBe(true);
  await node.advance('1999ms');
  expect(isStarting()).toBe(true);
  await node.advance('1ms');
  expect(isStarting()).toBe(false);
  node.runtime.faults.add(slowly(1_000));
  node.apply(podWith('next'));
  await node.advance('500ms');
  expect(isStarting()).toBe(true);
});
