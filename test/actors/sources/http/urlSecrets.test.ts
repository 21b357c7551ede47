import { describe, expect, test } from '@jest/globals';
import { hideSecrets, splitCredentials, urlKey, withoutSecrets } from '../../../../actors/sources/http/urlSecrets.ts';

const url = 'https://me:s%40cret@host:8443/pods?token=abcdef&node=a';

describe('the secrets of a URL', () => {
  test('are not shown, and a URL without secrets is shown unchanged', () => {
    expect(withoutSecrets(url)).toBe('https://host:8443/pods?token=xxxxx&node=xxxxx');
    expect(withoutSecrets('http://HOST/pods')).toBe('http://HOST/pods');
    expect(withoutSecrets('nonsense')).toBe('xxxxx');
  });

  test('are sent as an Authorization header if they are a user and a password', () => {
    const authorization = `Basic ${Buffer.from('me:s@cret').toString('base64')}`;
    expect(splitCredentials(url)).toEqual({ url: 'https://host:8443/pods?token=abcdef&node=a', authorization });
    expect(splitCredentials('http://a:100%@host/').authorization).toBe(
      `Basic ${Buffer.from('a:100%').toString('base64')}`,
    );
    expect(splitCredentials('http://HOST/')).toEqual({ url: 'http://HOST/' });
  });

  test('are in no persistence key, and a changed password does not change the key', () => {
    expect(urlKey(url)).toMatch(/^https:\/\/host:8443\/pods\?token=xxxxx&node=xxxxx#[0-9a-f]{16}$/);
    expect(urlKey(url.replace('s%40cret', 'other'))).toBe(urlKey(url));
    expect(urlKey(url.replace('abcdef', 'ghijkl'))).not.toBe(urlKey(url));
    expect(urlKey('http://host/pods')).toBe('http://host/pods');
  });

  test('are removed from messages in every notation', () => {
    const message = `cannot ask ${url}: s@cret, s%40cret, abcdef and Bearer xyz are wrong`;
    const hidden = hideSecrets(message, url, [['Authorization', 'Bearer xyz']]);
    expect(hidden).toBe(`cannot ask ${withoutSecrets(url)}: xxxxx, xxxxx, xxxxx and xxxxx are wrong`);
  });

  test('are removed in their encoded form as well, and a token without its scheme', () => {
    const basic = Buffer.from('me:s@cret').toString('base64');
    expect(hideSecrets(`${basic} and token-of-mine`, url, [['Authorization', 'Bearer token-of-mine']])).toBe(
      'xxxxx and xxxxx',
    );
  });
});
