import { describe, expect, test } from '@jest/globals';
import { credentialsFor, mergeKeyrings } from '../../../kubernetes/images/keyring.ts';
import { keyringOfSecret, missingSecretsEvents, pullSecretNames } from '../../../kubernetes/images/pullSecrets.ts';
import type { ConfigObject } from '../../../kubernetes/objects/configObject.ts';
import { aPod } from '../fixtures.ts';

const secret = (type: string, key: string, text: string | undefined, name = 'pull'): ConfigObject => ({
  kind: 'Secret',
  namespace: 'shop',
  name,
  uid: `uid-${name}`,
  resourceVersion: '1',
  isImmutable: false,
  type,
  data: new Map(text === undefined ? [] : [[key, Buffer.from(text)]]),
});
const JSON_TYPE = 'kubernetes.io/dockerconfigjson';
const OLD_TYPE = 'kubernetes.io/dockercfg';
const entry = { username: 'me', password: 'hunter2', email: 'me@r.example' };
const source = { kind: 'secret', uid: 'uid-pull', namespace: 'shop', name: 'pull' };

describe('C16: an image pull Secret', () => {
  test.each([
    [JSON_TYPE, '.dockerconfigjson', { auths: { 'https://r.example/v1/': entry } }],
    [OLD_TYPE, '.dockercfg', { 'r.example': entry }],
  ])('of type %s has credentials', (type, key, config) => {
    expect(keyringOfSecret(secret(type, key, JSON.stringify(config)))).toEqual([['r.example', { ...entry, source }]]);
  });

  test('of another type, with the key of another type, or without a value has no credentials', () => {
    for (const [type, key, text] of [
      ['Opaque', '.dockerconfigjson', '{"auths": {}}'],
      [JSON_TYPE, '.dockercfg', '{}'],
      [JSON_TYPE, '.dockerconfigjson', ''],
      [OLD_TYPE, '.dockercfg', undefined],
    ] as const) {
      expect(keyringOfSecret(secret(type, key, text))).toEqual([]);
    }
  });

  test.each(['{', '{"auths": {"r.example": {"auth": "hunter2!"}}}', '{"auths": {"r.example": "hunter2"}}'])(
    'with %s is rejected, without revealing its content',
    (text) => {
      const read = keyringOfSecret(secret(JSON_TYPE, '.dockerconfigjson', text));
      expect(read).toEqual({ refusal: expect.not.stringContaining('hunter2') });
    },
  );

  test('is ordered by the length of the path, then by the order in the pod', () => {
    const of = (name: string, ...places: readonly string[]) => {
      const auths = Object.fromEntries(places.map((place) => [place, { username: `${name} ${place}`, password: '' }]));
      const read = keyringOfSecret(secret(JSON_TYPE, '.dockerconfigjson', JSON.stringify({ auths }), name));
      return 'refusal' in read ? [] : read;
    };
    const keyring = mergeKeyrings([of('b', 'r.example'), of('a', 'r.example', 'r.example/team')]);
    const users = credentialsFor('r.example/team/app', keyring).map(({ username }) => username);
    expect(users).toEqual(['a r.example/team', 'b r.example', 'a r.example']);
  });
});

test('an empty name is ignored', () => {
  expect(pullSecretNames(aPod({ imagePullSecrets: [{ name: 'a' }, { name: '' }, {}] }))).toEqual(['a']);
});

test('all missing Secrets are reported together', () => {
  expect(missingSecretsEvents([])).toEqual([]);
  expect(missingSecretsEvents(['a', 'b'])).toEqual([
    expect.objectContaining({ message: expect.stringContaining('pull secrets (a, b); attempting') }),
  ]);
});
