import { expect, test } from '@jest/globals';
import { VersionedIndex } from '../../../base/values/versionedIndex.ts';

type Items = readonly string[];

function countedIndexes() {
  let builds = 0;
  const indexes = new VersionedIndex((items: Items, prefix: string) => {
    builds += 1;
    return new Set(items.filter((item) => item.startsWith(prefix)));
  });
  return { indexes, builds: () => builds };
}

test('an index is built once, and passed on to the next version with its changes', () => {
  const { indexes, builds } = countedIndexes();
  const first: Items = ['a1', 'b1'];
  const second = indexes.advance(first, [...first, 'a2'], (index) => index.add('a2'), 'a');
  expect([...indexes.of(second, 'a')]).toEqual(['a1', 'a2']);
  expect(builds()).toBe(1);
});

test('the index of an earlier version does not contain later changes', () => {
  const { indexes, builds } = countedIndexes();
  const first: Items = ['a1'];
  indexes.advance(first, ['a1', 'a2'], (index) => index.add('a2'), 'a');
  expect([...indexes.of(first, 'a')]).toEqual(['a1']);
  expect(builds()).toBe(2);
});

test('two versions that follow the same version have independent indexes', () => {
  const { indexes } = countedIndexes();
  const first: Items = ['a1'];
  const second = indexes.advance(first, ['a1', 'a2'], (index) => index.add('a2'), 'a');
  const other = indexes.advance(first, ['a1', 'a3'], (index) => index.add('a3'), 'a');
  expect([...indexes.of(second, 'a')]).toEqual(['a1', 'a2']);
  expect([...indexes.of(other, 'a')]).toEqual(['a1', 'a3']);
});

test('an update that throws does not affect the index of the version', () => {
  const { indexes } = countedIndexes();
  const first: Items = ['a1'];
  const update = (index: Set<string>) => {
    index.add('a2');
    throw new Error('failed');
  };
  expect(() => indexes.advance(first, ['a1', 'a2'], update, 'a')).toThrow('failed');
  expect([...indexes.of(first, 'a')]).toEqual(['a1']);
});

test('an index is built again for another basis', () => {
  const { indexes } = countedIndexes();
  const items: Items = ['a1', 'b1'];
  expect([...indexes.of(items, 'a')]).toEqual(['a1']);
  expect([...indexes.of(items, 'b')]).toEqual(['b1']);
});
