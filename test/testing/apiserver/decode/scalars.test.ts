import { expect, test } from '@jest/globals';
import { quantityOf, timeOf } from '../../../../testing/apiserver/decode/scalars.ts';
import type { Json } from '../../../../testing/apiserver/json.ts';

test.each<[Json, string]>([
  ['1000m', '1'],
  ['0.5', '500m'],
  ['1024Mi', '1Gi'],
  ['1.5Gi', '1536Mi'],
  ['1000', '1k'],
  ['1024', '1024'],
  ['100Ki', '100Ki'],
  ['0.5Ki', '512'],
  ['0.1Ki', '102400m'],
  ['1e3', '1e3'],
  ['-2', '-2'],
  ['0Mi', '0'],
  [2, '2'],
])('the quantity %j is serialized as %s', (given, expected) => expect(quantityOf(given)).toBe(expected));

test.each<Json>(['lots', '', null, true, [1], '1 Gi'])('%j is not a valid quantity', (given) => {
  expect(() => quantityOf(given)).toThrow('quantities must match the regular expression');
});

test('a time is accepted in the same formats as in a manifest', () => {
  expect(timeOf('2026-01-02T03:04:05,123Z', true)).toBe('2026-01-02T03:04:05.123000Z');
  expect(() => timeOf('2026-02-30T03:04:05Z', false)).toThrow('parsing time "2026-02-30T03:04:05Z": day out of range');
});

test('a time is converted to UTC in seconds or microseconds', () => {
  expect(timeOf('2026-01-02T03:04:05.678+01:00', false)).toBe('2026-01-02T02:04:05Z');
  expect(() => timeOf('2026-01-02T03:04:05Z', true)).toThrow('cannot parse "Z" as ".000000"');
  expect(timeOf('2026-01-02T03:04:05.123456789Z', true)).toBe('2026-01-02T03:04:05.123456Z');
  for (const given of ['yesterday', '2026-13-02T03:04:05Z', 7, null, '2026-01-02'])
    expect(() => timeOf(given, false)).toThrow('parsing time');
});
