import type { IncomingMessage } from 'node:http';
import { describe, expect, test } from '@jest/globals';
import { createTokenMatcher } from '../../host/tokenMatcher.ts';
import { checkAccess, tokenCookie } from '../../inspect/access.ts';

type Guarded = Parameters<typeof checkAccess>[1];

/** Returns the status code with which a request is rejected; 0 if it is accepted. */
function codeOf(guarded: Guarded, headers: Readonly<Record<string, string>>, url = '/'): number {
  // `checkAccess` reads only these fields.
  return checkAccess({ method: 'GET', url, headers } as unknown as IncomingMessage, guarded)?.code ?? 0;
}

describe('the host name of the page', () => {
  test.each<[string, Guarded, readonly string[], readonly string[]]>([
    [
      "has no port where that is the scheme's own",
      { address: { host: '127.0.0.1', port: 80 }, scheme: 'http' },
      ['127.0.0.1', 'localhost', '[::1]', '127.0.0.1:80'],
      ['127.0.0.1:443', 'evil.example', ''],
    ],
    [
      'has none with TLS, either',
      { address: { host: '127.0.0.1', port: 443 }, scheme: 'https' },
      ['127.0.0.1', 'localhost:443'],
      ['127.0.0.1:80', 'evil.example'],
    ],
    [
      'is the shortest form of an IPv6 address',
      { address: { host: '2001:db8:0:0:0:0:0:1', port: 8080 }, scheme: 'http' },
      ['[2001:db8::1]:8080'],
      ['[2001:db8::2]:8080', '[2001:db8::1]'],
    ],
    [
      'is no part of another',
      { address: { host: '127.0.0.1', port: 8080 }, scheme: 'http' },
      ['127.0.0.1:8080'],
      [
        'evil@127.0.0.1:8080',
        '127.0.0.1:8080/',
        '127.0.0.1:8080#',
        '127.0.0.1:8080.evil.example',
        'evil.example?127.0.0.1:8080',
      ],
    ],
  ])('%s', (_, guarded, own, others) => {
    for (const host of own) expect([host, codeOf(guarded, { host })]).toEqual([host, 0]);
    for (const host of others) expect([host, codeOf(guarded, { host })]).toEqual([host, 403]);
  });

  test('is that of the certificate, or any if a token is required', () => {
    const isToken = createTokenMatcher('secret');
    const guarded: Guarded = { address: { host: '192.0.2.1', port: 10_270 }, scheme: 'https', isToken };
    const host = 'node.example:10270';
    expect(codeOf(guarded, { host }, '/?token=secret')).toBe(0);
    expect(codeOf(guarded, { host, origin: `https://${host}` }, '/?token=secret')).toBe(0);
    expect(codeOf(guarded, { host, origin: 'https://evil.example' }, '/?token=secret')).toBe(403);
    expect(codeOf(guarded, { host })).toBe(401);
  });

  test('without an explicit port is the origin of its requests', () => {
    const guarded: Guarded = { address: { host: '127.0.0.1', port: 443 }, scheme: 'https' };
    expect(codeOf(guarded, { host: 'localhost', origin: 'https://localhost' })).toBe(0);
    expect(codeOf(guarded, { host: 'localhost', origin: 'http://localhost' })).toBe(403);
  });
});

test('two agents on one host have separate cookies', () => {
  const guarded = (port: number): Guarded => ({
    address: { host: '192.0.2.1', port },
    scheme: 'https',
    isToken: createTokenMatcher(`t${port}`),
  });
  const cookies = [1, 2].map((port) => tokenCookie(`t${port}`, guarded(port)).split(';')[0]);
  const cookie = cookies.join('; ');
  for (const port of [1, 2]) expect(codeOf(guarded(port), { host: `192.0.2.1:${port}`, cookie })).toBe(0);
  expect(new Set(cookies.map((each) => each?.split('=')[0])).size).toBe(2);
});

test('only a cookie of a page with TLS is Secure, because browsers may ignore such a cookie without TLS', () => {
  const address = { host: '127.0.0.1', port: 10_270 };
  expect(tokenCookie('t', { address, scheme: 'https' })).toContain('; Secure;');
  expect(tokenCookie('t', { address, scheme: 'http' })).not.toContain('Secure');
});

test('a request without a token is rejected with the name of the file that contains the link', () => {
  const guarded: Guarded = {
    address: { host: '127.0.0.1', port: 10_270 },
    scheme: 'http',
    isToken: createTokenMatcher('secret'),
    linkFile: '/var/lib/kubelet/statelet/page-link',
  };
  const request = { method: 'GET', url: '/', headers: { host: '127.0.0.1:10270' } } as unknown as IncomingMessage;
  expect(checkAccess(request, guarded)).toEqual({
    code: 401,
    message:
      "this page needs the token in its link: open the link in /var/lib/kubelet/statelet/page-link, which only the agent's user can read",
  });
});
