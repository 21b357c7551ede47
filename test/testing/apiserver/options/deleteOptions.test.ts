import { expect, test } from '@jest/globals';
import { deleteOptions } from '../../../../testing/apiserver/options/deleteOptions.ts';
import { readTypes } from '../../../../testing/apiserver/schema/types.ts';

const types = readTypes();
const graceOf = (query: string) =>
  deleteOptions(new URLSearchParams(query), { text: '', contentType: undefined }, types).gracePeriodSeconds;

test('the grace period in the query is an integer or absent', () => {
  expect(graceOf('gracePeriodSeconds=0')).toBe(0);
  expect(graceOf('gracePeriodSeconds=')).toBeUndefined();
  expect(graceOf('')).toBeUndefined();
});

test.each(['soon', '1.5', '1e3', '0x10'])('a grace period of %j is rejected', (grace) => {
  expect(() => graceOf(`gracePeriodSeconds=${grace}`)).toThrow(
    expect.objectContaining({
      message: expect.stringContaining(`strconv.ParseInt: parsing "${grace}": invalid syntax`),
    }),
  );
});
