import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { formatQuantity, milliValue, parseQuantity, wholeValue } from '../../../../kubernetes/api/values/quantity.ts';

describe('parseQuantity', () => {
  test.each([
    ['0', 0n],
    ['1', 1_000_000_000n],
    ['100m', 100_000_000n],
    ['1.5', 1_500_000_000n],
    ['.5', 500_000_000n],
    ['2.', 2_000_000_000n],
    ['1k', 10n ** 12n],
    ['1Ki', 1024n * 10n ** 9n],
    ['1.5Gi', 1536n * 2n ** 20n * 10n ** 9n],
    ['1E', 10n ** 27n],
    ['1e3', 10n ** 12n],
    ['1E-3', 10n ** 6n],
    ['12e+2', 1200n * 10n ** 9n],
    ['-5u', -5000n],
    ['+7n', 7n],
    ['m', 0n],
    ['.', 0n],
    ['-.', 0n],
    ['+', 0n],
    ['Ki', 0n],
    ['e3', 0n],
    ['E', 0n],
  ])('%s', (text, nanos) => {
    expect(parseQuantity(text)).toBe(nanos);
  });

  test.each(['', ' 1', '1 Gi', '1GB', '0x10', '1,5', 'e', '1e', '1e1.5', '--1', '1kI', '1mi'])('rejects %j', (text) => {
    expect(parseQuantity(text)).toBeUndefined();
  });

  test('rounds amounts below a nano away from zero, and bounds large ones', () => {
    expect(parseQuantity('0.1n')).toBe(1n);
    expect(parseQuantity('-0.1n')).toBe(-1n);
    expect(parseQuantity('1e999999999')).toBe((2n ** 63n - 1n) * 10n ** 9n);
    expect(parseQuantity('1e-999999999')).toBe(1n);
    expect(parseQuantity('9Ei')).toBe((2n ** 63n - 1n) * 10n ** 9n);
  });
});

describe('conversion to numbers', () => {
  test.each([
    ['1', 1000, 1],
    ['250m', 250, 1],
    ['0.1m', 1, 1],
    ['64Mi', 67_108_864_000, 67_108_864],
    ['-1500m', -1500, -1],
  ])('%s', (text, milli, whole) => {
    expect(milliValue(text)).toBe(milli);
    expect(wholeValue(text)).toBe(whole);
  });

  test('throws if the quantity is invalid', () => {
    expect(() => milliValue('lots')).toThrow(RangeError);
  });
});

describe('formatQuantity', () => {
  test.each([
    [0n, 'decimal', '0'],
    [100_000_000n, 'decimal', '100m'],
    [10n ** 12n, 'decimal', '1k'],
    [1_500_000_000n, 'decimal', '1500m'],
    [1536n * 2n ** 20n * 10n ** 9n, 'binary', '1536Mi'],
    [1000n * 10n ** 9n, 'binary', '1k'],
    [1023n * 10n ** 9n, 'binary', '1023'],
    [-1000n * 10n ** 9n, 'binary', '-1k'],
    [2000n * 10n ** 9n, 'binary', '2000'],
    [500_000_000n, 'binary', '500m'],
  ] as const)('formats %s nanos with %s suffixes', (nanos, family, text) => {
    expect(formatQuantity(nanos, family)).toBe(text);
  });

  test('formats an amount that parses to the same amount', () => {
    const amount = fc.bigInt({ min: -(10n ** 26n), max: 10n ** 26n });
    fc.assert(
      fc.property(amount, fc.constantFrom('decimal' as const, 'binary' as const), (nanos, family) => {
        expect(parseQuantity(formatQuantity(nanos, family))).toBe(nanos);
      }),
    );
  });
});
