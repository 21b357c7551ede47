import { describe, expect, test } from '@jest/globals';
import { type JsonFields, type MergeKeys, strategicPatch } from '../../../base/values/mergePatch.ts';

const KEYS: MergeKeys = new Map([['conditions', 'type']]);
const patchOf = (before: JsonFields, after: JsonFields) => strategicPatch(before, after, KEYS);

test('creates no patch between equal objects', () => {
  const object = { phase: 'Running', nested: { a: [1, 2] }, conditions: [{ type: 'Ready', status: 'True' }] };
  expect(patchOf(object, structuredClone(object))).toBeUndefined();
  expect(patchOf({}, { phase: undefined })).toBeUndefined();
});

test('contains only changed fields, with null for deleted ones', () => {
  const before = { phase: 'Pending', reason: 'Waits', nodeInfo: { boot: 'a', kernel: '6.1', old: true } };
  const after = { phase: 'Pending', podIP: '10.0.0.1', nodeInfo: { boot: 'b', kernel: '6.1' } };
  expect(patchOf(before, after)).toEqual({ podIP: '10.0.0.1', reason: null, nodeInfo: { boot: 'b', old: null } });
});

test('replaces a value of a different type', () => {
  expect(patchOf({ value: { a: 1 }, other: 'text' }, { value: [1], other: { b: 2 } })).toEqual({
    value: [1],
    other: { b: 2 },
  });
});

test('handles names that every object inherits like other names', () => {
  expect(patchOf({}, { constructor: 'text' })).toEqual({ constructor: 'text' });
  expect(patchOf({ toString: 'text' }, {})).toEqual({ toString: null });
});

test('replaces a list without a merge key', () => {
  const [one, two] = [
    { name: 'main', ready: false },
    { name: 'side', ready: true },
  ];
  const after = { containers: [{ ...one, ready: true }, two] };
  expect(patchOf({ containers: [one, two] }, after)).toEqual(after);
});

describe('a list with a merge key', () => {
  const [ready, scheduled] = [
    { type: 'Ready', status: 'False', reason: 'Starts' },
    { type: 'PodScheduled', status: 'True' },
  ];

  test('contains changed entries and the order of all entries', () => {
    const after = [{ type: 'Ready', status: 'True' }, scheduled];
    expect(patchOf({ conditions: [ready, scheduled] }, { conditions: after })).toEqual({
      '$setElementOrder/conditions': [{ type: 'Ready' }, { type: 'PodScheduled' }],
      conditions: [{ type: 'Ready', status: 'True', reason: null }],
    });
  });

  test('deletes entries with a directive', () => {
    expect(patchOf({ conditions: [ready, scheduled] }, { conditions: [scheduled] })).toEqual({
      '$setElementOrder/conditions': [{ type: 'PodScheduled' }],
      conditions: [{ $patch: 'delete', type: 'Ready' }],
    });
  });

  test('has no order if the list was empty before', () => {
    expect(patchOf({}, { conditions: [ready, scheduled] })).toEqual({ conditions: [ready, scheduled] });
  });

  test('needs no patch for a different order', () => {
    expect(patchOf({ conditions: [ready, scheduled] }, { conditions: [scheduled, ready] })).toBeUndefined();
  });

  test('is null if the list was deleted', () => {
    expect(patchOf({ conditions: [ready] }, {})).toEqual({ conditions: null });
  });
});
