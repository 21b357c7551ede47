import { expect, test } from '@jest/globals';
import { normalizedAnchors } from '../../../kubernetes/objects/trustAnchors.ts';

const bytesOf = (seed: number, length = 100) => Buffer.alloc(length, seed);
const pem = (bytes: Buffer, type = 'CERTIFICATE', width = 64) => {
  const lines = bytes.toString('base64').match(new RegExp(`.{1,${width}}`, 'g')) ?? [];
  return [`-----BEGIN ${type}-----`, ...lines, `-----END ${type}-----`, ''].join('\n');
};
/** The contents of the blocks. */
const contents = (text: string) =>
  [...text.matchAll(/-----BEGIN CERTIFICATE-----\n([^-]*)-----END CERTIFICATE-----\n/g)].map(([, body = '']) =>
    Buffer.from(body, 'base64'),
  );
const sorted = (all: readonly Buffer[]) => all.toSorted((a, b) => Buffer.compare(a, b));

test('certificates are written as PEM is, and nothing else is', () => {
  const one = bytesOf(1);
  const odd = `a comment\r\n${pem(one, 'CERTIFICATE', 76).replaceAll('\n', '\r\n')}another`;
  expect(normalizedAnchors([odd], 's')).toBe(pem(one));
  expect(normalizedAnchors(['nothing'], 's')).toBe('');
  expect(normalizedAnchors([], 's')).toBe('');
});

test('each is there once, of however many bundles it is part', () => {
  const [one, two, three] = [bytesOf(1), bytesOf(2), bytesOf(3)];
  const text = normalizedAnchors([pem(one) + pem(two), pem(two, 'CERTIFICATE', 20) + pem(three)], 's');
  expect(sorted(contents(text))).toEqual([one, two, three]);
  expect(text).toHaveLength(pem(one).length * 3);
});

test('their order is the same each time, and another for another agent', () => {
  const bundles = Array.from({ length: 20 }, (_, seed) => pem(bytesOf(seed)));
  const [first, again] = [normalizedAnchors(bundles, 's'), normalizedAnchors(bundles.toReversed(), 's')];
  expect(again).toBe(first);
  const other = normalizedAnchors(bundles, 't');
  expect(other).not.toBe(first);
  expect(sorted(contents(other))).toEqual(sorted(contents(first)));
});

test('what is broken is left out, and stands in the way of nothing', () => {
  const [one, two] = [bytesOf(1), bytesOf(2)];
  const broken = '-----BEGIN CERTIFICATE-----\n????\n-----END CERTIFICATE-----\n';
  const crossed = '-----BEGIN CERTIFICATE-----\nQUJD\n-----END KEY-----\n';
  const short = '-----BEGIN CERTIFICATE-----\nQUJ\n-----END CERTIFICATE-----\n';
  expect(sorted(contents(normalizedAnchors([pem(one) + broken + crossed + short + pem(two)], 's')))).toEqual([
    one,
    two,
  ]);
  expect(normalizedAnchors(['-----BEGIN CERTIFICATE-----\nQUJD'], 's')).toBe('');
});

test('a bundle that is long and never ends takes no long time', () => {
  const long = '-----BEGIN '.repeat(50_000) + 'A'.repeat(500_000);
  const start = performance.now();
  expect(normalizedAnchors([long], 's')).toBe('');
  expect(performance.now() - start).toBeLessThan(2_000);
});
