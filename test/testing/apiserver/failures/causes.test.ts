import { expect, test } from '@jest/globals';
import {
  forbidden,
  invalidValue,
  notSupported,
  required,
  tooLong,
} from '../../../../testing/apiserver/failures/causes.ts';

test('a cause describes the problem of a field', () => {
  expect(notSupported('fieldValidation', 'May"be', ['', 'Warn'])).toEqual({
    reason: 'FieldValueNotSupported',
    message: 'Unsupported value: "May\\"be": supported values: "", "Warn"',
    field: 'fieldValidation',
  });
  expect(forbidden('force', 'not here')).toEqual({
    reason: 'FieldValueForbidden',
    message: 'Forbidden: not here',
    field: 'force',
  });
  expect(tooLong('metadata.annotations', 5)).toEqual({
    reason: 'FieldValueTooLong',
    message: 'Too long: may not be more than 5 bytes',
    field: 'metadata.annotations',
  });
  expect(invalidValue('a', { b: null }, 'must not be so')).toEqual({
    reason: 'FieldValueInvalid',
    message: 'Invalid value: {"b":null}: must not be so',
    field: 'a',
  });
  expect([required('a'), required('a', 'why')].map(({ message }) => message)).toEqual([
    'Required value',
    'Required value: why',
  ]);
});
