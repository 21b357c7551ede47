import { expect, test } from '@jest/globals';
import { checkOrder, indexOf, keyOf, sortMergedList } from '../../../../testing/apiserver/patch/mergedLists.ts';

test('an entry is identified by its merge key, or by its value if it has none', () => {
  expect(keyOf({ name: 'a', image: 'b' }, 'name')).toBe('a');
  expect(keyOf('a', undefined)).toBe('a');
  expect(indexOf([{ name: 'a' }, { name: 'b' }], 'b', 'name')).toBe(1);
  expect(indexOf(['a'], 'b', undefined)).toBe(-1);
  for (const entry of [{ image: 'b' }, 'a', { constructor: 1 }])
    expect(() => keyOf(entry, 'toString')).toThrow('does not contain declared merge key: toString');
});

test.each([
  // What only the server has stays before what it was before, as far as the patch leaves it its place.
  [['a', 'b', 'c'], ['c', 'a'], 'b c a'],
  [['a', 'b', 'c'], ['b', 'c'], 'a b c'],
  [['a', 'b'], ['new'], 'new a b'],
  [['a', 'b', 'c', 'd'], ['d', 'new'], 'a b c d new'],
  [[], ['b', 'a'], 'b a'],
])('%j merged with %j is ordered as %s', (known, asked, expected) => {
  const merged = [...known, ...asked.filter((each) => !known.includes(each))];
  expect(sortMergedList(merged, { asked, known, mergeKey: undefined }).join(' ')).toBe(expected);
});

test('the entries of a patch must have the requested order, except for deleted ones', () => {
  const asked = [{ name: 'a' }, { name: 'b' }, { name: 'c' }];
  expect(checkOrder([{ name: 'a' }, { $patch: 'delete', name: 'x' }, { name: 'c' }], asked, 'name')).toBeUndefined();
  expect(checkOrder([], asked, 'name')).toBeUndefined();
  for (const patch of [[{ name: 'c' }, { name: 'a' }], [{ name: 'x' }]])
    expect(() => checkOrder(patch, asked, 'name')).toThrow("doesn't match $setElementOrder list");
});
