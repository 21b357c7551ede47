import { expect, test } from '@jest/globals';
import { Rates } from '../../stats/rates.ts';

const used = (usedNs: number, at: number) => ({ usedNs, at });

test('C43: a rate is the increase of a counter since the previous sample', () => {
  const rates = new Rates();
  rates.startSample(0);
  expect(rates.rateOf('a', used(1_000_000_000, 0))).toBeUndefined();
  rates.startSample(10_000);
  expect(rates.rateOf('a', used(6_000_000_000, 10_000))).toBe(500_000_000);
  rates.startSample(20_000);
  expect(rates.rateOf('a', used(6_000_000_001, 20_000))).toBe(0);
});

test('a counter created since the previous sample starts at zero', () => {
  const rates = new Rates();
  rates.startSample(0);
  expect(rates.rateOf('a', used(5, 0), 10)).toBeUndefined();
  rates.startSample(10_000);
  expect(rates.rateOf('b', used(2_000_000_000, 10_000), 4_000)).toBe(500_000_000);
  expect(rates.rateOf('made before, started after', used(2_000_000_000, 10_000), 11_000)).toBe(200_000_000);
  expect(rates.rateOf('older', used(2_000_000_000, 10_000), 21_000)).toBeUndefined();
  expect(rates.rateOf('unknown', used(2_000_000_000, 10_000))).toBeUndefined();
});

test('a counter that was reset, or is missing in the previous sample, has no rate', () => {
  const rates = new Rates();
  rates.startSample(0);
  rates.rateOf('a', used(9, 0));
  rates.startSample(1_000);
  expect(rates.rateOf('a', used(3, 1_000))).toBeUndefined();
  rates.startSample(2_000);
  rates.startSample(3_000);
  expect(rates.rateOf('a', used(5, 3_000))).toBeUndefined();
});

test('no rates are available after two minutes without a sample', () => {
  const rates = new Rates();
  expect(rates.startSample(0)).toBe(false);
  rates.rateOf('a', used(0, 0));
  expect(rates.startSample(119_999)).toBe(true);
  rates.rateOf('a', used(0, 119_999));
  expect(rates.startSample(239_999)).toBe(false);
  expect(rates.rateOf('a', used(1_000, 239_999))).toBeUndefined();
});

test('a sample shortly after another is compared with the same earlier sample', () => {
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
