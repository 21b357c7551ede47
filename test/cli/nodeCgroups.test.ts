import { expect, test } from '@jest/globals';
import { capacityOf } from '../../cli/nodeCgroups.ts';

test.each([
  [110, 0, 110],
  [110, 10, 40],
  [30, 10, 30],
])('a node of four cores with %d pods at most and %d for each core has places for %d', (maxPods, podsPerCore, pods) => {
  const facts = { cpuCount: 4, memoryCapacityBytes: 1_000 };
  expect(capacityOf({ maxPods, podsPerCore }, facts)).toEqual({ cpuMillis: 4_000, memoryBytes: 1_000, pods });
});
