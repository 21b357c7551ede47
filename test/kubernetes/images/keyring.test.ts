import { describe, expect, test } from '@jest/globals';
import { credentialsFor, readKeyring } from '../../../kubernetes/images/keyring.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');

/** Returns the users for a repository. Users are named after the location that their credentials are for. */
function usersFor(repository: string, ...places: readonly string[]): string[] {
  const auths = Object.fromEntries(places.map((place) => [place, { username: place, password: 'secret' }]));
  return credentialsFor(repository, readKeyring(JSON.stringify({ auths }), 'config.json') ?? []).map(
    ({ username }) => username,
  );
}

describe('C16: the credentials of the node', () => {
  test.each([
    ['of its registry', ['r.example'], ['r.example']],
    [
      'of its registry with a scheme and the version of the protocol',
      ['https://r.example/v1/'],
      ['https://r.example/v1/'],
    ],
    ['of a path in its registry', ['http://r.example/v2/team'], ['http://r.example/v2/team']],
    [
      'of a longer path first',
      ['r.example', 'r.example/team/app', 'r.example/team'],
      ['r.example/team/app', 'r.example/team', 'r.example'],
    ],
    ['not of another path', ['r.example/other', 'r.example/team/app/deeper'], []],
    ['of a pattern for each label', ['*.example', 'r.ex*', '[q-s].example'], ['r.ex*', '[q-s].example', '*.example']],
    ['of a pattern that is another', ['*', '*.*.example', '[^r].example', 'r\\*.example', 'r.[', 'rr.example'], []],
    ['not of another port', ['r.example:5000', 'r.example:443'], []],
    ['of no location', [''], []],
  ])('%s', (_what, places, users) => {
    expect(usersFor('r.example/team/app', ...places)).toEqual(users);
  });

  test('match a registry with a port', () => {
    expect(usersFor('127.0.0.1:5000/app', '127.0.0.1', '127.0.0.1:5000', '127.0.0.*:5000')).toEqual([
      '127.0.0.1:5000',
      '127.0.0.*:5000',
    ]);
    expect(usersFor('[fd00::1]:5000/app', '[fd00::1]:5000', '[fd00::1]')).toEqual(['[fd00::1]:5000']);
  });

  test('for Docker Hub match references without a registry, unless others match', () => {
    const hub = 'https://index.docker.io/v1/';
    expect(usersFor('docker.io/library/busybox', hub, 'r.example')).toEqual([hub]);
    expect(usersFor('docker.io/library/busybox', hub, 'docker.io/library')).toEqual(['docker.io/library']);
    expect(usersFor('r.example/app', hub)).toEqual([]);
  });
});

describe('a credentials file', () => {
  const read = (auths: unknown) => readKeyring(JSON.stringify({ auths }), 'config.json');

  test.each([
    ['padded', base64('me:1')],
    ['not padded', base64('me:12').replaceAll('=', '')],
    ['broken into lines', `${base64('me:a longer password').slice(0, 8)}\n${base64('me:a longer password').slice(8)}`],
    ['with a colon in the password', base64('me:a:b')],
  ])('may have user and password in one field, %s', (_how, auth) => {
    expect(read({ 'r.example': { auth, username: 'not', password: 'these' } })).toEqual([
      ['r.example', { username: 'me', password: expect.stringMatching(/^(1|12|a longer password|a:b)$/) }],
    ]);
  });

  test('may be empty, without registries or with entries that a credential helper stores', () => {
    expect(readKeyring('{"credsStore": "desktop"}', 'config.json')).toEqual([]);
    expect(read(null)).toEqual([]);
    expect(read({ 'r.example': {}, 'q.example': null })).toEqual([]);
  });

  test('in the old format consists of the registries alone', () => {
    const text = JSON.stringify({ 'r.example': { username: 'me', password: 'p', email: 'me@r.example' } });
    expect(readKeyring(text, '.dockercfg')).toEqual([
      ['r.example', { username: 'me', password: 'p', email: 'me@r.example' }],
    ]);
  });

  test('treats names as data', () => {
    const text = '{"auths": {"__proto__": {"username": "me", "password": "p"}, "constructor": {"username": "you"}}}';
    expect(readKeyring(text, 'config.json')?.map(([place]) => place)).toEqual(expect.arrayContaining(['constructor']));
    expect(credentialsFor('toString/app', readKeyring(text, 'config.json') ?? [])).toEqual([]);
  });

  test.each([
    ['no JSON', '{'],
    ['another thing', '[]'],
    ['an entry that is none', '{"auths": {"r.example": 1}}'],
    ['a password that is no text', '{"auths": {"r.example": {"password": 1}}}'],
    ['invalid base64', '{"auths": {"r.example": {"auth": "!!!!"}}}'],
    ['base64 of another length', '{"auths": {"r.example": {"auth": "bWU6MQ="}}}'],
    ['no colon between user and password', `{"auths": {"r.example": {"auth": "${base64('me')}"}}}`],
  ])('is rejected with %s', (_what, text) => {
    expect(readKeyring(text, 'config.json')).toBeUndefined();
  });
});
