/**
 * One IP address can be written in several ways (`fd00::1`, `FD00:0:0:0:0:0:0:1`), so addresses are compared by value, with
 * the functions of `base/ipAddress.ts`, never as text.
 */
import { expect, test } from '@jest/globals';
import { isProduct, sources } from './support/tree.ts';

/**
 * Patterns of a comparison with an address, or with the beginning of one, by an operator, a method or a regular
 * expression.
 */
const COMPARISONS = [
  /(?:[!=]==|case) (['"`])(?:\d{1,3}\.[\d.]*|\[?[\da-f]*:[\da-f]*:[\da-f:]*\]?)\1/i,
  /\.(?:startsWith|endsWith|includes|indexOf)\((['"`])(?:\d{1,3}\.[\d.]*|[\da-f]*::|f[ef][\da-f]{2}:?)\1\)/i,
  /\/\^?\(*(?:\?:)?(?:127|169|22|fe[8[]|\^?ff|::1|\[0:\])[^/\n]*\/[a-z]*\.(?:test|exec)/i,
  // Comparisons with a variable that contains an address, on either side.
  /(?<!typeof )\b(?:ip|address|podIp|hostIp|nodeIp|podIP|hostIP) [!=]== (?!undefined|null|'')/,
  / [!=]== (?:\w+\.)*(?:ip|podIp|hostIp|nodeIp|podIP|hostIP)\b/,
  // Lookups of such a variable in a list or set of addresses.
  /\.(?:includes|indexOf|has)\((?:\w+\.)*(?:ip|address|podIp|hostIp|nodeIp|podIP|hostIP|host)\)/,
];

const comparesText = (line: string): boolean => COMPARISONS.some((pattern) => pattern.test(line));

/** These files compare addresses as text, because a real API server does so as well. */
const EXEMPT = new Set(['testing/apiserver/registry/strategies/services.ts']);

test('no address is compared as text', () => {
  const found = sources
    .filter(({ file }) => isProduct(file) && !EXEMPT.has(file))
    .flatMap(({ file, text }) =>
      text.split('\n').flatMap((line) => (comparesText(line) ? [`${file}: ${line.trim()}`] : [])),
    );
  expect(found).toEqual([]);
});

test.each([
  "host === '::1'",
  "address !== '0.0.0.0'",
  "hostname === '[::1]'",
  "host.startsWith('127.')",
  "address.startsWith('fe80:')",
  '/^(127\\.|::1$)/.test(address)',
  '/^169\\.254\\.|^fe[89ab]/i.test(address)',
  '/^[0:]+$/.test(host)',
  'one.hostIp === other.hostIp',
  'status.podIP !== known',
  'addresses.includes(host)',
  'seen.has(status.podIP)',
])('%s is recognized as a text comparison of addresses', (line) => {
  expect(comparesText(line)).toBe(true);
});
