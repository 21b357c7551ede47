import { expect, test } from '@jest/globals';
import { playNumbered } from '../../../../testing/simulation/soak/playNumbered.ts';

test('each requested story is played: a short one, the one with many pods, and a random one', async () => {
  const told = [];
  for await (const { number, violation } of playNumbered([0, 7, 20]))
    told.push({ number, violation: violation?.message });
  expect(told).toEqual([
    { number: 0, violation: undefined },
    { number: 7, violation: undefined },
    { number: 20, violation: undefined },
  ]);
});
