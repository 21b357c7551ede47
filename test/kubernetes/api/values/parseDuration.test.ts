import { expect, test } from '@jest/globals';
import { parseDuration } from '../../../../kubernetes/api/values/parseDuration.ts';

test.each([
  ['0', 0],
  ['0s', 0],
  ['1m30s', 90_000],
  ['.5h', 1_800_000],
  ['2.s', 2_000],
  ['1h2m3s4ms', 3_723_004],
  ['4000\u00b5s', 4],
  ['4000\u03bcs', 4],
  ['5ns', 5e-6],
])('the duration %s is %f ms', (text, milliseconds) => {
  expect(parseDuration(text)).toBeCloseTo(milliseconds, 9);
});

test.each(['', '1', '-1s', '1.s.', 's', '1 s', '1d', '1e3s', '1constructor', '1s '])(
  '%j is rejected as a duration',
  (text) => {
    expect(parseDuration(text)).toBeUndefined();
  },
);
