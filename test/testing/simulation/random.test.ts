import { expect, test } from '@jest/globals';
import { Random } from '../../../testing/simulation/random.ts';

test('a random sample has distinct elements, and depends on the seed', () => {
  const all = Array.from({ length: 100 }, (_, index) => ({ index }));
  const drawn = new Random(1).sample(all, 10);
  expect(new Set(drawn).size).toBe(10);
  expect(all).toEqual(expect.arrayContaining(drawn));
  expect(new Random(1).sample(all, 10)).toEqual(drawn);
  expect(new Random(2).sample(all, 10)).not.toEqual(drawn);
  expect(new Set(new Random(1).sample(all, 101))).toEqual(new Set(all));
});
