import { expect, test } from '@jest/globals';
import { memoize } from '../../../base/values/memoize.ts';

test('computes a value once per object, and separately for a copy', () => {
  const made: string[] = [];
  const initial = memoize(({ name }: { name: string }) => {
    made.push(name);
    return { letter: name.charAt(0) };
  });
  const web = { name: 'web' };
  expect(initial(web)).toBe(initial(web));
  expect(initial({ ...web })).toEqual({ letter: 'w' });
  expect(made).toEqual(['web', 'web']);
});
