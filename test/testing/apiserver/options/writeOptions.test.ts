import { expect, test } from '@jest/globals';
import { Failure } from '../../../../testing/apiserver/failures/failures.ts';
import { isTrue, writeOptions } from '../../../../testing/apiserver/options/writeOptions.ts';

const optionsOf = (query: string, isApply = false) => writeOptions(new URLSearchParams(query), 'PatchOptions', isApply);

test('by default, a write is no dry run and warns about unknown fields', () => {
  const nothing = { isDryRun: false, fieldValidation: 'Warn', fieldManager: undefined, isForced: false };
  expect(optionsOf('')).toEqual(nothing);
});

test('write options are read from the query', () => {
  expect(optionsOf('dryRun=All&fieldValidation=Strict&fieldManager=me&force=true', true)).toEqual({
    isDryRun: true,
    fieldValidation: 'Strict',
    fieldManager: 'me',
    isForced: true,
  });
  expect(optionsOf('fieldValidation=Ignore&force=false').fieldValidation).toBe('Ignore');
});

test.each([
  [
    'fieldValidation=Maybe',
    'fieldValidation: Unsupported value: "Maybe": supported values: "", "Ignore", "Strict", "Warn"',
  ],
  ['dryRun=Some', 'dryRun: Unsupported value: "Some": supported values: "All"'],
  ['force=true', 'force: Forbidden: may not be specified for non-apply patch'],
  [`fieldManager=${'x'.repeat(129)}`, 'fieldManager: Too long: may not be more than 128 bytes'],
])('write options reject %s', (query, why) => {
  expect(() => optionsOf(query)).toThrow(Failure);
  expect(() => optionsOf(query)).toThrow(`PatchOptions.meta.k8s.io "" is invalid: ${why}`);
});

test('force applies only to a patch', () => {
  expect(writeOptions(new URLSearchParams('force=true'), 'CreateOptions').isForced).toBe(false);
});

test('a boolean option is true for any value but false and 0', () => {
  expect([null, 'false', '0', '', '1', 'true'].map(isTrue)).toEqual([false, false, false, true, true, true]);
});
