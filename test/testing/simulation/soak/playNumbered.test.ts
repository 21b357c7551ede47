import { expect, test } from '@jest/globals';
import { playNumbered } from '../../../../testing/simulation/soak/playNumbered.ts';

test('each story that is asked for is told: a short one, the one of many pods, one that is drawn', async () => {
  const told = [];
  for await (const { number, violation } of playNumbered([0, 7, 20]))
    told.push({ number, violation: violation?.message });
  expect(told).toEqual([
    { number: 0, violation: undefined },
    { number: 7, violation: undefined },
    { number: 20, violation: undefined },
  ]);
});
