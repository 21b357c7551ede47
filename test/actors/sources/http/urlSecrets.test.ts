import { describe, expect, test } from '@jest/globals';
import { hideSecrets, splitCredentials, urlKey, withoutSecrets } from '../../../../actors/sources/http/urlSecrets.ts';

const url = 'https://me:s%40cret@host:8443/pods?token=abcdef&node=a';

describe('the secrets of a URL', () => {
  test('are not shown; what has none is shown as it was written', () => {
    expect(withoutSecrets(url)).toBe('https://host:8443/pods?token=xxxxx&node=xxxxx');
    expect(withoutSecrets('http://HOST/pods')).toBe('http://HOST/pods');
    expect(withoutSecrets('nonsense')).toBe('xxxxx');
  });

  test('a user and a password are sent as a header', () => {
    const authorization = `Basic ${Buffer.from('me:s@cret').toString('base64')}`;
    expect(splitCredentials(url)).toEqual({ url: 'https://host:8443/pods?token=abcdef&node=a', authorization });
    expect(splitCredentials('http://a:100%@host/').authorization).toBe(
      `Basic ${Buffer.from('a:100%').toString('base64')}`,
    );
    expect(splitCredentials('http://HOST/')).toEqual({ url: 'http://HOST/' });
  });

  test('are in no key under which something is kept, and another password makes no other key', () => {
    expect(urlKey(url)).toMatch(/^https:\/\/host:8443\/pods\?token=xxxxx&node=xxxxx#[0-9a-f]{16}$/);
    expect(urlKey(url.replace('s%40cret', 'other'))).toBe(urlKey(url));
    expect(urlKey(url.replace('abcdef', 'ghijkl'))).not.toBe(urlKey(url));
    expect(urlKey('http://host/pods')).toBe('http://host/pods');
  });

  test('are taken out of a message, however they came into it', () => {
    const message = `cannot ask ${url}: s@cret, s%40cret, abcdef and Bearer xyz are wrong`;
    const hidden = hideSecrets(message, url, [['Authorization', 'Bearer xyz']]);
    expect(hidden).toBe(`cannot ask ${withoutSecrets(url)}: xxxxx, xxxxx, xxxxx and xxxxx are wrong`);
  });

  test('also as they were sent, and a token without the word before it', () => {
    const basic = Buffer.from('me:s@cret').toString('base64');
    expect(hideSecrets(`${basic} and token-of-mine`, url, [['Authorization', 'Bearer token-of-mine']])).toBe(
      'xxxxx and xxxxx',
    );
  });
});
