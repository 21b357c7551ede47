import { expect, test } from '@jest/globals';
import type { Json } from '../../../../testing/apiserver/json.ts';
import { jsonPatch } from '../../../../testing/apiserver/patch/jsonPatch.ts';

const before = { data: { k: 'v', l: 'w' }, list: ['a', 'b'], 'a/b~': 1 };
const op = (name: string, path: string, more: object = {}): Json => ({ op: name, path, ...more });

test.each<[string, Json[], Json]>([
  ['a field added', [op('add', '/data/n', { value: { x: 1 } })], { ...before, data: { k: 'v', l: 'w', n: { x: 1 } } }],
  ['one replaced', [op('replace', '/data/k', { value: 2 })], { ...before, data: { k: 2, l: 'w' } }],
  // As recorded of a kube-apiserver.
  [
    'one replaced that is not there',
    [op('replace', '/data/n', { value: 2 })],
    { ...before, data: { ...before.data, n: 2 } },
  ],
  ['one set to null', [op('replace', '/data/k', { value: null })], { ...before, data: { k: null, l: 'w' } }],
  ['one without a value', [op('add', '/data/k')], { ...before, data: { k: null, l: 'w' } }],
  ['one removed', [op('remove', '/data/k')], { ...before, data: { l: 'w' } }],
  ['escaped names', [op('replace', '/a~1b~0', { value: 2 })], { ...before, 'a/b~': 2 }],
  ['an entry put in', [op('add', '/list/1', { value: 'x' })], { ...before, list: ['a', 'x', 'b'] }],
  ['an entry put at the end', [op('add', '/list/-', { value: 'x' })], { ...before, list: ['a', 'b', 'x'] }],
  ['an entry put after the last', [op('add', '/list/2', { value: 'x' })], { ...before, list: ['a', 'b', 'x'] }],
  ['an entry counted from the end', [op('replace', '/list/-1', { value: 'x' })], { ...before, list: ['a', 'x'] }],
  ['an entry removed', [op('remove', '/list/0')], { ...before, list: ['b'] }],
  ['what was copied', [op('copy', '/data/c', { from: '/list/0' })], { ...before, data: { ...before.data, c: 'a' } }],
  [
    'what was moved',
    [op('move', '/list/0', { from: '/data/k' })],
    { ...before, data: { l: 'w' }, list: ['v', 'a', 'b'] },
  ],
  ['tests that hold', [op('test', '/data', { value: { l: 'w', k: 'v' } }), op('test', '/no', { value: null })], before],
  [
    'names of any kind',
    [op('add', '/__proto__', { value: 1 })],
    JSON.parse(`{"__proto__":1,${JSON.stringify(before).slice(1)}`),
  ],
  ['nothing', [], before],
])('%s', (_what, patch, expected) => {
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
