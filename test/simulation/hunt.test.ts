import { expect, test } from '@jest/globals';
import { hunt } from '../../simulation/hunt.ts';

test('each story that is asked for is told, the short ones before those that are drawn', async () => {
  const told = [];
  for await (const { number, violation } of hunt([0, 20])) told.push({ number, violation: violation?.message });
  expect(told).toEqual([
    { number: 0, violation: undefined },
    { number: 20, violation: undefined },
  ]);
});
