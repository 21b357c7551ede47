import { expect, test } from '@jest/globals';
import { forbidden, notSupported, tooLong } from '../../apiserver/causes.ts';

test('tells what is wrong with a field', () => {
  expect(notSupported('fieldValidation', 'May"be', ['', 'Warn'])).toEqual({
    reason: 'FieldValueNotSupported',
    message: 'Unsupported value: "May\\"be": supported values: "", "Warn"',
    field: 'fieldValidation',
  });
  expect(forbidden('force', 'not here')).toEqual({
    ...{ reason: 'FieldValueForbidden', message: 'Forbidden: not here', field: 'force' },
  });
  expect(tooLong('metadata.annotations', 5)).toEqual({
    reason: 'FieldValueTooLong',
    message: 'Too long: may not be more than 5 bytes',
    field: 'metadata.annotations',
  });
});
