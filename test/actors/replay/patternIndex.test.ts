import { expect, test } from '@jest/globals';
import { PatternIndex } from '../../../actors/replay/patternIndex.ts';

const many = Array.from({ length: 1_000 }, (_, index) => `${index}-pattern`.padStart(13, '-'));

test.each([
  ['few', []],
  ['many', many],
])('the patterns that a text contains are found among %s others', (_, others) => {
  const index = new PatternIndex([...others, 'secret', 'secret1', 'password', 'other value']);
  expect(index.findIn('the secret1 and the password').toSorted()).toEqual(['password', 'secret', 'secret1']);
  expect(index.findIn('secret')).toEqual(['secret']);
  expect(index.findIn('secre')).toEqual([]);
  expect(index.findIn('')).toEqual([]);
});

test('does not find deleted patterns, but still finds those with the same beginning', () => {
  const index = new PatternIndex([...many, 'secret1', 'secret2']);
  index.delete('secret1');
  index.delete('never added');
  expect(index.findIn('secret1 secret2')).toEqual(['secret2']);
  index.delete('secret2');
  expect(index.findIn('secret1 secret2')).toEqual([]);
});

test('finds what a search for each pattern finds, in random texts of two characters', () => {
  let state = 1;
  const random = (below: number) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
  const textOf = (length: number) => Array.from({ length }, () => 'ab'[random(2)]).join('');
  const patterns = new Set(Array.from({ length: 300 }, () => textOf(6 + random(8))));
  const index = new PatternIndex(patterns);
  for (let count = 0; count < 100; count += 1) {
    const text = textOf(random(60));
    expect(new Set(index.findIn(text))).toEqual(new Set([...patterns].filter((pattern) => text.includes(pattern))));
  }
});
