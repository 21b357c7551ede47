import { expect, test } from '@jest/globals';
import { normalizeAnchors } from '../../../kubernetes/objects/trustAnchors.ts';
import { cpuTimeOf } from '../../support/cpuTime.ts';

const bytesOf = (seed: number, length = 100) => Buffer.alloc(length, seed);
const pem = (bytes: Buffer, type = 'CERTIFICATE', width = 64) => {
  const lines = bytes.toString('base64').match(new RegExp(`.{1,${width}}`, 'g')) ?? [];
  return [`-----BEGIN ${type}-----`, ...lines, `-----END ${type}-----`, ''].join('\n');
};
/** Returns the contents of the PEM blocks. */
const contents = (text: string) =>
  [...text.matchAll(/-----BEGIN CERTIFICATE-----\n([^-]*)-----END CERTIFICATE-----\n/g)].map(([, body = '']) =>
    Buffer.from(body, 'base64'),
  );
const sorted = (all: readonly Buffer[]) => all.toSorted((a, b) => Buffer.compare(a, b));

test('a trust bundle consists of certificates in PEM, and nothing else', () => {
  const one = bytesOf(1);
  const odd = `a comment\r\n${pem(one, 'CERTIFICATE', 76).replaceAll('\n', '\r\n')}another`;
  expect(normalizeAnchors([odd], 's')).toBe(pem(one));
  expect(normalizeAnchors(['nothing'], 's')).toBe('');
  expect(normalizeAnchors([], 's')).toBe('');
});

test('a trust bundle contains each certificate once, even if it is in several bundles', () => {
  const [one, two, three] = [bytesOf(1), bytesOf(2), bytesOf(3)];
  const text = normalizeAnchors([pem(one) + pem(two), pem(two, 'CERTIFICATE', 20) + pem(three)], 's');
  expect(sorted(contents(text))).toEqual([one, two, three]);
  expect(text).toHaveLength(pem(one).length * 3);
});

test('a trust bundle has a stable order that differs between agents', () => {
  const bundles = Array.from({ length: 20 }, (_, seed) => pem(bytesOf(seed)));
  const [first, again] = [normalizeAnchors(bundles, 's'), normalizeAnchors(bundles.toReversed(), 's')];
  expect(again).toBe(first);
  const other = normalizeAnchors(bundles, 't');
  expect(other).not.toBe(first);
  expect(sorted(contents(other))).toEqual(sorted(contents(first)));
});

test('malformed blocks are ignored without affecting others', () => {
  const [one, two] = [bytesOf(1), bytesOf(2)];
  const broken = '-----BEGIN CERTIFICATE-----\n????\n-----END CERTIFICATE-----\n';
  const crossed = '-----BEGIN CERTIFICATE-----\nQUJD\n-----END KEY-----\n';
  const short = '-----BEGIN CERTIFICATE-----\nQUJ\n-----END CERTIFICATE-----\n';
  expect(sorted(contents(normalizeAnchors([pem(one) + broken + crossed + short + pem(two)], 's')))).toEqual([one, two]);
  expect(normalizeAnchors(['-----BEGIN CERTIFICATE-----\nQUJD'], 's')).toBe('');
});

test('a long unterminated bundle is parsed quickly', () => {
  const long = '-----BEGIN '.repeat(50_000) + 'A'.repeat(500_000);
  expect(cpuTimeOf(() => expect(normalizeAnchors([long], 's')).toBe(''))).toBeLessThan(2_000);
});
