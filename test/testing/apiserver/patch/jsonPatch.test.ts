import { expect, test } from '@jest/globals';
import type { Json } from '../../../../testing/apiserver/json.ts';
import { jsonPatch } from '../../../../testing/apiserver/patch/jsonPatch.ts';

const before = { data: { k: 'v', l: 'w' }, list: ['a', 'b'], 'a/b~': 1 };
const op = (name: string, path: string, more: object = {}): Json => ({ op: name, path, ...more });

test.each<[string, Json[], Json]>([
  ['adds a field', [op('add', '/data/n', { value: { x: 1 } })], { ...before, data: { k: 'v', l: 'w', n: { x: 1 } } }],
  ['replaces a field', [op('replace', '/data/k', { value: 2 })], { ...before, data: { k: 2, l: 'w' } }],
  // Recorded from a kube-apiserver.
  [
    'adds a missing field that is to be replaced',
    [op('replace', '/data/n', { value: 2 })],
    { ...before, data: { ...before.data, n: 2 } },
  ],
  ['sets a field to null', [op('replace', '/data/k', { value: null })], { ...before, data: { k: null, l: 'w' } }],
  ['adds null if there is no value', [op('add', '/data/k')], { ...before, data: { k: null, l: 'w' } }],
  ['removes a field', [op('remove', '/data/k')], { ...before, data: { l: 'w' } }],
  ['unescapes names in a path', [op('replace', '/a~1b~0', { value: 2 })], { ...before, 'a/b~': 2 }],
  ['inserts an entry', [op('add', '/list/1', { value: 'x' })], { ...before, list: ['a', 'x', 'b'] }],
  ['appends an entry with -', [op('add', '/list/-', { value: 'x' })], { ...before, list: ['a', 'b', 'x'] }],
  [
    'appends an entry with the index after the last',
    [op('add', '/list/2', { value: 'x' })],
    { ...before, list: ['a', 'b', 'x'] },
  ],
  [
    'replaces an entry by its index from the end',
    [op('replace', '/list/-1', { value: 'x' })],
    { ...before, list: ['a', 'x'] },
  ],
  ['removes an entry', [op('remove', '/list/0')], { ...before, list: ['b'] }],
  ['copies a value', [op('copy', '/data/c', { from: '/list/0' })], { ...before, data: { ...before.data, c: 'a' } }],
  [
    'moves a value',
    [op('move', '/list/0', { from: '/data/k' })],
    { ...before, data: { l: 'w' }, list: ['v', 'a', 'b'] },
  ],
  [
    'accepts tests that hold',
    [op('test', '/data', { value: { l: 'w', k: 'v' } }), op('test', '/no', { value: null })],
    before,
  ],
  [
    'adds a field with any name',
    [op('add', '/__proto__', { value: 1 })],
    JSON.parse(`{"__proto__":1,${JSON.stringify(before).slice(1)}`),
  ],
  ['changes nothing without operations', [], before],
])('a JSON patch %s', (_title, patch, expected) => {
  const copy = structuredClone(before);
  expect(jsonPatch(before, patch)).toEqual(expected);
  expect(before).toEqual(copy);
});

test.each([
  [op('test', '/data/k', { value: 'x' })],
  [op('test', '/list/7', { value: null })],
  [op('remove', '/data/n')],
  [op('remove', '/list/2')],
  [op('remove', '/data/constructor')],
  [op('add', '/none/k', { value: 1 })],
  [op('add', '/list/3', { value: 1 })],
  [op('add', '/list/x', { value: 1 })],
  [op('add', '/data/k/x', { value: 1 })],
  [op('replace', '/list/2', { value: 1 })],
  [op('replace', '', { value: 1 })],
  [op('replace', 'data', { value: 1 })],
  [op('copy', '/data/c', { from: '/none' })],
  [op('move', '/data/c')],
  [op('frob', '/data/k')],
  ['odd'],
  [{ op: 'remove' }],
  [null],
])('the operation %j is rejected', (operation) => {
  const message = 'the server rejected our request due to an error in our request';
  expect(() => jsonPatch(before, [op('remove', '/data/l'), operation])).toThrow(
    expect.objectContaining({ code: 422, message }),
  );
});

test('a patch that is not a list of operations, or is too long, is rejected', () => {
  const message = 'error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp';
  expect(() => jsonPatch(before, {})).toThrow(expect.objectContaining({ code: 400, message }));
  expect(() => jsonPatch(before, 'x')).toThrow(/cannot unmarshal string/);
  expect(() => jsonPatch(before, true)).toThrow(/cannot unmarshal bool/);
  const many = Array.from({ length: 10_001 }, () => op('test', '/no', { value: null }));
  expect(() => jsonPatch(before, many)).toThrow(
    expect.objectContaining({ code: 413, message: expect.stringMatching(/is 10000, got 10001$/) }),
  );
  expect(jsonPatch(before, many.slice(1))).toEqual(before);
});
