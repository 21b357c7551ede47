import { expect, test } from '@jest/globals';
import { parsedJson } from '../../base/parsedJson.ts';

test.each([
  ['{"a":[1]}', { a: [1] }],
  ['null', null],
  ['', undefined],
  ['{"a":', undefined],
])('parses %j', (text, value) => {
  expect(parsedJson(text)).toEqual(value);
});
