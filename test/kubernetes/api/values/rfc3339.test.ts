import { expect, test } from '@jest/globals';
import { rfc3339 } from '../../../../kubernetes/api/values/rfc3339.ts';

test('a timestamp is formatted in whole seconds', () => {
  expect(rfc3339(Date.UTC(2026, 0, 2, 3, 4, 5, 678))).toBe('2026-01-02T03:04:05Z');
});

test('a timestamp beyond all dates, e.g. after a long grace period, is formatted as the last date', () => {
  expect(rfc3339(Number.MAX_SAFE_INTEGER * 1_000)).toBe('9999-12-31T23:59:59Z');
});
