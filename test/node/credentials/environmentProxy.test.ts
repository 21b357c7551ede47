import { expect, test } from '@jest/globals';
import { environmentProxy } from '../../../node/credentials/environmentProxy.ts';

const PROXY = 'http://proxy:3128';
const through = (server: string, noProxy: string, more: Record<string, string> = {}) =>
  environmentProxy(`https://${server}`, { HTTPS_PROXY: PROXY, NO_PROXY: noProxy, ...more });

test('the environment defines the proxy, in upper or lower case, with or without a scheme', () => {
  expect(environmentProxy('https://192.0.2.1', {})).toBeUndefined();
  expect(environmentProxy('https://192.0.2.1', { https_proxy: 'proxy:3128' })).toBe(PROXY);
  expect(environmentProxy('https://192.0.2.1', { HTTP_PROXY: PROXY, ALL_PROXY: PROXY })).toBeUndefined();
  expect(environmentProxy('https://192.0.2.1', { HTTPS_PROXY: 'socks5://p:1', https_proxy: PROXY })).toBe(
    'socks5://p:1',
  );
  expect(() => environmentProxy('https://192.0.2.1', { HTTPS_PROXY: 'ftp://:SECRET@p' })).toThrow(
    new Error('HTTPS_PROXY: expected an address such as "http://192.0.2.1:3128"'),
  );
});

test.each(['localhost', '127.0.0.1:6443', '127.1.2.3', '[::1]', '[::ffff:127.0.0.1]'])(
  '%s is never reached through the proxy',
  (server) => {
    expect(through(server, '')).toBeUndefined();
  },
);

test.each([
  ['api.example.org', '*'],
  ['api.example.org', 'example.org'],
  ['api.example.org', '.example.org'],
  ['api.example.org', '*.example.org'],
  ['api.example.org', 'other, API.example.org'],
  ['api.example.org:6443', 'example.org:6443'],
  ['api.example.org', 'example.org:443'],
  ['192.0.2.7', '192.0.2.0/24'],
  ['192.0.2.7', '192.0.2.7'],
  ['192.0.2.7:6443', '192.0.2.7:6443'],
  ['[2001:db8::1]', '2001:db8::/32'],
  ['[2001:db8::1]', '2001:db8::1'],
  ['[2001:db8::1]', '2001:DB8:0:0:0:0:0:1'],
  ['[2001:db8::1]:6443', '[2001:DB8:0:0::1]:6443'],
  ['[::ffff:192.0.2.7]', '192.0.2.7'],
  ['[::ffff:192.0.2.7]', '192.0.2.0/24'],
  ['192.0.2.7', '::ffff:192.0.2.7'],
])('%s is reached directly with NO_PROXY=%s', (server, noProxy) => {
  expect(through(server, noProxy)).toBeUndefined();
});

test.each([
  ['example.org', '.example.org'],
  ['example.org', 'ample.org'],
  ['api.example.org', 'example.org:6443'],
  ['192.0.2.7', '192.0.3.0/24'],
  ['192.0.2.7', '192.0.2.0/99'],
  ['192.0.2.7', 'a/24'],
  ['192.0.2.7', '2001:db8::/32'],
])('%s is reached through the proxy with NO_PROXY=%s', (server, noProxy) => {
  expect(through(server, noProxy)).toBe(PROXY);
});
