import { expect, test } from '@jest/globals';
import { simulatedNode } from '../fakes/node.ts';
import { podWith } from '../fakes/pods.ts';

const slowly = (delayMs: number, times = Number.POSITIVE_INFINITY) =>
  ({ call: 'runPodSandbox', times, delayMs }) as const;

test('starts count as queued from the first start that has to wait until the last is done', async () => {
  const node = await simulatedNode({ config: { startSlots: 1 } });
  const isInLine = node.agent.hasQueuedStarts;
  expect(isInLine()).toBe(false);
  node.runtime.faults.add(slowly(1_500));
  for (const name of ['a', 'b', 'c']) node.apply(podWith(name));
  for (let seconds = 1; seconds <= 4; seconds += 1) {
    await node.advance('1s');
    expect([seconds, isInLine()]).toEqual([seconds, true]);
  }
  await node.advance('2s');
  expect([node.pod('c').phase, isInLine()]).toEqual(['Running', false]);
});

test('starts that do not have to wait do not count as queued', async () => {
  const node = await simulatedNode({ config: { startSlots: 2 } });
  node.runtime.faults.add(slowly(1_500));
  for (const name of ['a', 'b']) node.apply(podWith(name));
  await node.advance('1s');
  expect([node.pod('a').phase, node.agent.hasQueuedStarts()]).toEqual(['Pending', false]);
});

test('queued starts that make no progress count as not queued, until one of them does', async () => {
  const node = await simulatedNode({ config: { startSlots: 1 } });
  const isInLine = node.agent.hasQueuedStarts;
  node.runtime.faults.add(slowly(5_000));
  for (const name of ['a', 'b', 'c']) node.apply(podWith(name));
  await node.advance('500ms');
  expect(isInLine()).toBe(true);
  await node.advance('1999ms');
  expect(isInLine()).toBe(true);
  await node.advance('1ms');
  expect(isInLine()).toBe(false);
  await node.advance('2600ms');
  expect(isInLine()).toBe(true);
});
