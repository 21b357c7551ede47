import { expect, test } from '@jest/globals';
import { authorityOf, isLoopback, isWildcard, parsePageAddress } from '../../inspect/address.ts';

test.each([
  ['127.0.0.1:10270', '127.0.0.1', 10_270, 'loopback'],
  ['127.1.2.3:1', '127.1.2.3', 1, 'loopback'],
  ['localhost:0', 'localhost', 0, 'loopback'],
  ['[::1]:65535', '::1', 65_535, 'loopback'],
  ['0.0.0.0:80', '0.0.0.0', 80, 'all'],
  ['[::]:80', '::', 80, 'all'],
  ['[0:0:0:0:0:0:0:0]:80', '0:0:0:0:0:0:0:0', 80, 'all'],
  ['192.0.2.1:80', '192.0.2.1', 80, 'one'],
  ['[2001:db8::1]:80', '2001:db8::1', 80, 'one'],
  // The same addresses in a different spelling.
  ['[::ffff:127.0.0.1]:80', '::ffff:127.0.0.1', 80, 'loopback'],
  ['[0:0:0:0:0:0:0:1]:80', '0:0:0:0:0:0:0:1', 80, 'loopback'],
])('%s', (text, host, port, reach) => {
  const page = parsePageAddress(text);
  expect(page).toEqual({ address: { host, port }, isOpen: false });
  expect(parsePageAddress(`${text}?open`)).toEqual({ address: { host, port }, isOpen: true });
  if (page === undefined) return;
  const { address } = page;
  expect([isLoopback(address), isWildcard(address)]).toEqual([reach === 'loopback', reach === 'all']);
  expect(authorityOf(address)).toBe(text);
});

test.each([
  '',
  ':80',
  '80',
  '127.0.0.1',
  '127.0.0.1:',
  '127.0.0.1:65536',
  '127.0.0.1:-1',
  '127.0.0.1:1e3',
  '127.0.0.256:80',
  '127.evil.example:80',
  'evil.example:80',
  '::1:80',
  '[127.0.0.1]:80',
  '[::1%lo]:80',
  '127.0.0.1:80 ',
  'http://127.0.0.1:80',
  '127.0.0.1:80/',
  '?open',
  '127.0.0.1:80?open=1',
  '127.0.0.1:80?OPEN',
  '127.0.0.1:80?open?open',
  '127.0.0.1:80?token=open',
])('%j is not a valid address', (text) => {
  expect(parsePageAddress(text)).toBeUndefined();
});
