import { expect, test } from '@jest/globals';
import { Rates } from '../../stats/rates.ts';

const used = (usedNs: number, at: number) => ({ usedNs, at });

test('C43: a rate is what a counter gained since the sample before', () => {
  const rates = new Rates();
  rates.begin(0);
  expect(rates.of('a', used(1_000_000_000, 0))).toBeUndefined();
  rates.begin(10_000);
  expect(rates.of('a', used(6_000_000_000, 10_000))).toBe(500_000_000);
  rates.begin(20_000);
  expect(rates.of('a', used(6_000_000_001, 20_000))).toBe(0);
});

test('what was made since the sample before began with nothing', () => {
  const rates = new Rates();
  rates.begin(0);
  expect(rates.of('a', used(5, 0), 10)).toBeUndefined();
  rates.begin(10_000);
  expect(rates.of('b', used(2_000_000_000, 10_000), 4_000)).toBe(500_000_000);
  expect(rates.of('made before, started after', used(2_000_000_000, 10_000), 11_000)).toBe(200_000_000);
  expect(rates.of('older', used(2_000_000_000, 10_000), 21_000)).toBeUndefined();
  expect(rates.of('unknown', used(2_000_000_000, 10_000))).toBeUndefined();
});

test('a counter that began anew, or was not there, has no rate', () => {
  const rates = new Rates();
  rates.begin(0);
  rates.of('a', used(9, 0));
  rates.begin(1_000);
  expect(rates.of('a', used(3, 1_000))).toBeUndefined();
  rates.begin(2_000);
  rates.begin(3_000);
  expect(rates.of('a', used(5, 3_000))).toBeUndefined();
});

test('after two minutes without a sample nothing is known of now', () => {
  const rates = new Rates();
  expect(rates.begin(0)).toBe(false);
  rates.of('a', used(0, 0));
  expect(rates.begin(119_999)).toBe(true);
  rates.of('a', used(0, 119_999));
  expect(rates.begin(239_999)).toBe(false);
  expect(rates.of('a', used(1_000, 239_999))).toBeUndefined();
});

test('a sample that follows closely is compared with the same as the one before it', () => {
  const rates = new Rates();
  rates.begin(0);
  rates.of('a', used(0, 0));
  expect(rates.begin(399)).toBe(false);
  expect(rates.of('a', used(0, 399))).toBeUndefined();
  rates.begin(10_000);
  expect(rates.of('a', used(5_000_000_000, 9_999))).toBe(520_833_333);
  expect(rates.begin(10_020)).toBe(true);
  expect(rates.of('a', used(5_000_000_000, 10_019))).toBe(519_750_519);
  rates.begin(10_400);
  expect(rates.of('a', used(5_000_000_000, 10_400))).toBe(0);
});
