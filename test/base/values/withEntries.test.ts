import { expect, test } from '@jest/globals';
import { withEntries, withoutEntry } from '../../../base/values/withEntries.ts';

test('adds entries, or replaces those with the same name', () => {
  const map = Object.freeze({ a: 1, b: 2 });
  expect(withEntries(map, [['b', 3]])).toEqual({ a: 1, b: 3 });
  expect(withEntries(map, [['c', 3]])).toEqual({ a: 1, b: 2, c: 3 });
  const many = withEntries(map, [
    ['a', 3],
    ['c', 4],
  ]);
  expect(many).toEqual({ a: 3, b: 2, c: 4 });
  expect(withEntries(map, [])).toBe(map);
});

test('handles names from outside like other names', () => {
  expect(Object.keys(withEntries<number>({}, [['__proto__', 1]]))).toEqual(['__proto__']);
  expect(withoutEntry({ a: 1 }, 'toString')).toEqual({ a: 1 });
});

test('removes an entry', () => {
  const map = Object.freeze({ a: 1, b: 2 });
  expect(withoutEntry(map, 'a')).toEqual({ b: 2 });
  expect(withoutEntry(map, 'c')).toBe(map);
});
