import { expect, test } from '@jest/globals';
import { type FieldValidation, readObject } from '../../../../testing/apiserver/requests/body.ts';
import { readTypes } from '../../../../testing/apiserver/schema/types.ts';

const types = readTypes();
const CONFIG_MAP = { group: '', version: 'v1', kind: 'ConfigMap' };
const read = (text: string, validation: FieldValidation = 'Warn') =>
  readObject({ text, contentType: undefined }, CONFIG_MAP, types, validation);

test('a body is read as an object of the expected kind, even if it does not state its kind', () => {
  const { object, warnings } = read('{"metadata":{"name":"a"},"data":{"constructor":"x"}}');
  expect(object).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a' } });
  expect(object.data).toEqual({ constructor: 'x' });
  expect(warnings).toEqual([]);
});

test('unknown fields are dropped with or without a warning, or rejected', () => {
  const text = '{"metadata":{"name":"s","strange":true},"bogus":1}';
  expect(read(text).warnings).toEqual(['unknown field "metadata.strange"', 'unknown field "bogus"']);
  expect(read(text).object).not.toHaveProperty('bogus');
  expect(read(text, 'Ignore').warnings).toEqual([]);
  expect(() => read(text, 'Strict')).toThrow(
    'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: ' +
      'unknown field "metadata.strange", unknown field "bogus"',
  );
});

const UNRECOGNIZED =
  "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: ";

test.each([
  ['{"a":', `${UNRECOGNIZED}unexpected end of JSON input ({"a":)`],
  ['', `${UNRECOGNIZED}unexpected end of JSON input (<empty>)`],
  [
    '[]',
    `${UNRECOGNIZED}json: cannot unmarshal array into Go value of type struct { APIVersion string ` +
      '"json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" } (5b5d)',
  ],
  [
    '{"apiVersion":"v2","kind":"ConfigMap"}',
    'ConfigMap in version "v2" cannot be handled as a ConfigMap: no kind "ConfigMap" is registered for version "v2" ' +
      'in scheme "pkg/api/legacyscheme/scheme.go:30"',
  ],
  [
    '{"data":{"a":1}}',
    'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ' +
      'ConfigMap.data of type string',
  ],
])('the body %j is rejected', (text, message) => {
  expect(() => read(text)).toThrow(message);
});

test('the error shows the start of a long body', () => {
  expect(() => read(`{${' '.repeat(40)}`)).toThrow(`({${' '.repeat(29)} ...)`);
});
