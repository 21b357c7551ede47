import { expect, test } from '@jest/globals';
import { expandId, findById, requireById } from '../../../../cri/simulated/objects/byId.ts';

const one = 'ab'.padEnd(64, '1');
const other = 'ac'.padEnd(64, '2');
const records = new Map([
  [one, 'one'],
  [other, 'other'],
]);

test('a record is found by its ID or a prefix of it', () => {
  expect(findById(records, one, 'no')).toBe('one');
  expect(findById(records, 'ac', 'no')).toBe('other');
  expect(findById(records, 'ad', 'no')).toBeUndefined();
  expect(() => requireById(records, 'ad', 'cannot find')).toThrow(/^cannot find: not found$/);
});

test('an ambiguous or empty prefix is rejected', () => {
  expect(() => findById(records, 'a', 'cannot find')).toThrow(
    'cannot find: Multiple IDs found with provided prefix: a',
  );
  expect(() => findById(records, '', 'cannot find')).toThrow("cannot find: Prefix can't be empty");
});

test('the ID of a filter is expanded if possible', () => {
  expect([one, 'ac', 'a', 'ad', ''].map((id) => expandId(records, id))).toEqual([one, other, 'a', 'ad', '']);
});
