import { expect, test } from '@jest/globals';
import { goText } from '../../../../testing/apiserver/failures/goText.ts';

test('a value is formatted as by Go', () => {
  expect(goText({ b: [1, 'x', null], a: { on: true } })).toBe('map[a:map[on:true] b:[1 x <nil>]]');
});
