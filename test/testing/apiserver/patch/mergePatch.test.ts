import { expect, test } from '@jest/globals';
import type { Json } from '../../../../testing/apiserver/json.ts';
import { mergePatch } from '../../../../testing/apiserver/patch/mergePatch.ts';

/** The examples of RFC 7386. */
test.each<[Json, Json, Json]>([
  [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
  [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
  [{ a: 'b' }, { a: null }, {}],
  [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
  [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
  [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
  [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
  [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
  [
    ['a', 'b'],
    ['c', 'd'],
    ['c', 'd'],
  ],
  [{ a: 'b' }, ['c'], ['c']],
  [{ a: 'foo' }, null, null],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [[1, 2], { a: 'b', c: null }, { a: 'b' }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
])('%j patched with %j is %j', (value, patch, expected) => expect(mergePatch(value, patch)).toEqual(expected));

test('a field may have any name', () => {
  const patch: Json = JSON.parse('{"__proto__":{"a":"b"},"constructor":"x"}');
  expect(Object.entries(mergePatch({}, patch) ?? {})).toEqual([
    ['__proto__', { a: 'b' }],
    ['constructor', 'x'],
  ]);
});
