import { expect, test } from '@jest/globals';
import { retainKeys } from '../../../base/values/retainKeys.ts';

test('deletes entries with other keys, and adds none', () => {
  const kept = new Map([
    ['a', 1],
    ['constructor', 2],
    ['b', 3],
  ]);
  retainKeys(kept, new Set(['b', 'constructor', 'c']));
  expect([...kept]).toEqual([
    ['constructor', 2],
    ['b', 3],
  ]);
});
