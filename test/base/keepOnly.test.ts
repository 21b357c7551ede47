import { expect, test } from '@jest/globals';
import { keepOnly } from '../../base/keepOnly.ts';

test('what has another key goes, and nothing comes for keys that had nothing', () => {
  const kept = new Map([
    ['a', 1],
    ['constructor', 2],
    ['b', 3],
  ]);
  keepOnly(kept, new Set(['b', 'constructor', 'c']));
  expect([...kept]).toEqual([
    ['constructor', 2],
    ['b', 3],
  ]);
});
