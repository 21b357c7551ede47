import { expect, test } from '@jest/globals';
import { parseJson } from '../../../base/values/parseJson.ts';

test.each([
  ['{"a":[1]}', { a: [1] }],
  ['null', null],
  ['', undefined],
  ['{"a":', undefined],
])('%j is parsed as JSON, or is undefined if it is invalid', (text, value) => {
  expect(parseJson(text)).toEqual(value);
});
