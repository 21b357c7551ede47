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
  // An entry that only the server has stays before the entries that followed it, as far as the order of the patch
  // allows.
  [['a', 'b', 'c'], ['c', 'a'], 'b c a'],
  [['a', 'b', 'c'], ['b', 'c'], 'a b c'],
  [['a', 'b'], ['new'], 'new a b'],
  [['a', 'b', 'c', 'd'], ['d', 'new'], 'a b c d new'],
  [[], ['b', 'a'], 'b a'],
])('%j merged with %j is ordered as %s', (known, requested, expected) => {
  const merged = [...known, ...requested.filter((each) => !known.includes(each))];
  expect(sortMergedList(merged, { requested, known, mergeKey: undefined }).join(' ')).toBe(expected);
});

test('the entries of a patch must have the requested order, except for deleted ones', () => {
  const requested = [{ name: 'a' }, { name: 'b' }, { name: 'c' }];
  expect(
    checkOrder([{ name: 'a' }, { $patch: 'delete', name: 'x' }, { name: 'c' }], requested, 'name'),
  ).toBeUndefined();
  expect(checkOrder([], requested, 'name')).toBeUndefined();
  for (const patch of [[{ name: 'c' }, { name: 'a' }], [{ name: 'x' }]])
    expect(() => checkOrder(patch, requested, 'name')).toThrow("doesn't match $setElementOrder list");
});
