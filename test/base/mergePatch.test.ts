import { describe, expect, test } from '@jest/globals';
import { type JsonFields, type MergeKeys, strategicPatch } from '../../base/mergePatch.ts';

const KEYS: MergeKeys = new Map([['conditions', 'type']]);
const patchOf = (before: JsonFields, after: JsonFields) => strategicPatch(before, after, KEYS);

test('between objects that are the same there is no patch', () => {
  const object = { phase: 'Running', nested: { a: [1, 2] }, conditions: [{ type: 'Ready', status: 'True' }] };
  expect(patchOf(object, structuredClone(object))).toBeUndefined();
  expect(patchOf({}, { phase: undefined })).toBeUndefined();
});

test('only what differs is in it, down to single fields; what has gone is null', () => {
  const before = { phase: 'Pending', reason: 'Waits', nodeInfo: { boot: 'a', kernel: '6.1', old: true } };
  const after = { phase: 'Pending', podIP: '10.0.0.1', nodeInfo: { boot: 'b', kernel: '6.1' } };
  expect(patchOf(before, after)).toEqual({ podIP: '10.0.0.1', reason: null, nodeInfo: { boot: 'b', old: null } });
});

test('what becomes something of another form is replaced', () => {
  expect(patchOf({ value: { a: 1 }, other: 'text' }, { value: [1], other: { b: 2 } })).toEqual({
    value: [1],
    other: { b: 2 },
  });
});

test('names that every object has are names as any other', () => {
  expect(patchOf({}, { constructor: 'text' })).toEqual({ constructor: 'text' });
  expect(patchOf({ toString: 'text' }, {})).toEqual({ toString: null });
});

test('a list without a key is whole', () => {
  const [one, two] = [
    { name: 'main', ready: false },
    { name: 'side', ready: true },
  ];
  const after = { containers: [{ ...one, ready: true }, two] };
  expect(patchOf({ containers: [one, two] }, after)).toEqual(after);
});

describe('a list with a key', () => {
  const [ready, scheduled] = [
    { type: 'Ready', status: 'False', reason: 'Starts' },
    { type: 'PodScheduled', status: 'True' },
  ];

  test('is patched by its entries that differ, and tells in which order all of them are', () => {
    const after = [{ type: 'Ready', status: 'True' }, scheduled];
    expect(patchOf({ conditions: [ready, scheduled] }, { conditions: after })).toEqual({
      '$setElementOrder/conditions': [{ type: 'Ready' }, { type: 'PodScheduled' }],
      conditions: [{ type: 'Ready', status: 'True', reason: null }],
    });
  });

  test('loses entries by a directive', () => {
    expect(patchOf({ conditions: [ready, scheduled] }, { conditions: [scheduled] })).toEqual({
      '$setElementOrder/conditions': [{ type: 'PodScheduled' }],
      conditions: [{ $patch: 'delete', type: 'Ready' }],
    });
  });

  test('has no order to tell where there was none before', () => {
    expect(patchOf({}, { conditions: [ready, scheduled] })).toEqual({ conditions: [ready, scheduled] });
  });

  test('that is only in another order needs no patch', () => {
    expect(patchOf({ conditions: [ready, scheduled] }, { conditions: [scheduled, ready] })).toBeUndefined();
  });

  test('that is no more is null', () => {
    expect(patchOf({ conditions: [ready] }, {})).toEqual({ conditions: null });
  });
});
