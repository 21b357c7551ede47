import { expect, test } from '@jest/globals';
import { remembered } from '../../base/remembered.ts';

test('it is made once for each object, and apart for its copy', () => {
  const made: string[] = [];
  const initial = remembered(({ name }: { name: string }) => {
    made.push(name);
    return { letter: name.charAt(0) };
  });
  const web = { name: 'web' };
  expect(initial(web)).toBe(initial(web));
  expect(initial({ ...web })).toEqual({ letter: 'w' });
  expect(made).toEqual(['web', 'web']);
});
