import { expect, test } from '@jest/globals';
import { Rates } from '../../stats/rates.ts';

const used = (usedNs: number, at: number) => ({ usedNs, at });

test('C43: a rate is what a counter gained since the sample before', () => {
  const rates = new Rates();
  rates.startSample(0);
  expect(rates.rateOf('a', used(1_000_000_000, 0))).toBeUndefined();
  rates.startSample(10_000);
  expect(rates.rateOf('a', used(6_000_000_000, 10_000))).toBe(500_000_000);
  rates.startSample(20_000);
  expect(rates.rateOf('a', used(6_000_000_001, 20_000))).toBe(0);
});

test('what was made since the sample before began with nothing', () => {
  const rates = new Rates();
  rates.startSample(0);
  expect(rates.rateOf('a', used(5, 0), 10)).toBeUndefined();
  rates.startSample(10_000);
  expect(rates.rateOf('b', used(2_000_000_000, 10_000), 4_000)).toBe(500_000_000);
  expect(rates.rateOf('made before, started after', used(2_000_000_000, 10_000), 11_000)).toBe(200_000_000);
  expect(rates.rateOf('older', used(2_000_000_000, 10_000), 21_000)).toBeUndefined();
  expect(rates.rateOf('unknown', used(2_000_000_000, 10_000))).toBeUndefined();
});

test('a counter that began anew, or was not there, has no rate', () => {
  const rates = new Rates();
  rates.startSample(0);
  rates.rateOf('a', used(9, 0));
  rates.startSample(1_000);
  expect(rates.rateOf('a', used(3, 1_000))).toBeUndefined();
  rates.startSample(2_000);
  rates.startSample(3_000);
  expect(rates.rateOf('a', used(5, 3_000))).toBeUndefined();
});

test('after two minutes without a sample nothing is known of now', () => {
  const rates = new Rates();
  expect(rates.startSample(0)).toBe(false);
  rates.rateOf('a', used(0, 0));
  expect(rates.startSample(119_999)).toBe(true);
  rates.rateOf('a', used(0, 119_999));
  expect(rates.startSample(239_999)).toBe(false);
  expect(rates.rateOf('a', used(1_000, 239_999))).toBeUndefined();
});

test('a sample that follows closely is compared with the same as the one before it', () => {
  const rates = new Rates();
  rates.startSample(0);
  rates.rateOf('a', used(0, 0));
  expect(rates.startSample(399)).toBe(false);
  expect(rates.rateOf('a', used(0, 399))).toBeUndefined();
  rates.startSample(10_000);
  expect(rates.rateOf('a', used(5_000_000_000, 9_999))).toBe(520_833_333);
  expect(rates.startSample(10_020)).toBe(true);
  expect(rates.rateOf('a', used(5_000_000_000, 10_019))).toBe(519_750_519);
  rates.startSample(10_400);
  expect(rates.rateOf('a', used(5_000_000_000, 10_400))).toBe(0);
});
