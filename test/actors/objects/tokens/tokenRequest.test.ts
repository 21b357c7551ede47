import { describe, expect, test } from '@jest/globals';
import {
  createTokenRequest,
  formatTokenRequest,
  readToken,
  serviceAccountOf,
} from '../../../../actors/objects/tokens/tokenRequest.ts';
import { aPod } from '../../../kubernetes/fixtures.ts';

const pod = aPod({ serviceAccountName: 'builder' }, { name: 'web', namespace: 'shop', uid: 'u-1' });

test('a token request has the content that a kubelet sends, and is bound to the pod', () => {
  expect(serviceAccountOf(pod)).toEqual({ namespace: 'shop', name: 'builder' });
  const boundObjectRef = { kind: 'Pod', apiVersion: 'v1', name: 'web', uid: 'u-1' };
  expect(createTokenRequest(pod, { audience: '', expirationSeconds: 3607 })).toEqual({
    kind: 'TokenRequest',
    apiVersion: 'authentication.k8s.io/v1',
    spec: { expirationSeconds: 3607, boundObjectRef },
  });
  expect(createTokenRequest(pod, { audience: 'vault', expirationSeconds: 600 }).spec.audiences).toEqual(['vault']);
});

test('a token request for a credential plugin names the account UID and leaves the lifetime to the server', () => {
  expect(createTokenRequest(pod, { audience: 'registry', accountUid: 'u-2' })).toEqual({
    kind: 'TokenRequest',
    apiVersion: 'authentication.k8s.io/v1',
    metadata: { uid: 'u-2' },
    spec: {
      audiences: ['registry'],
      boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'web', uid: 'u-1' },
    },
  });
});

test('a token request is described in messages as a kubelet describes it', () => {
  const bound = 'v1.BoundObjectReference{Kind:"Pod", APIVersion:"v1", Name:"web", UID:"u-1"}/""';
  expect(formatTokenRequest(pod, { audience: '', expirationSeconds: 3607 })).toBe(
    `"builder"/"shop"/[]string(nil)/3607/${bound}`,
  );
  expect(formatTokenRequest(pod, { audience: 'vault', expirationSeconds: 600 })).toBe(
    `"builder"/"shop"/[]string{"vault"}/600/${bound}`,
  );
  expect(formatTokenRequest(pod, { audience: 'vault', accountUid: 'u-2' })).toBe(
    `"builder"/"shop"/[]string{"vault"}/0/${bound.replace(/""$/, '"u-2"')}`,
  );
});

describe('a token response', () => {
  const answer = (over: object = {}) => ({
    metadata: { creationTimestamp: '2026-11-22T09:42:28Z' },
    spec: { expirationSeconds: 3607 },
    status: { token: 'secret', expirationTimestamp: '2026-11-22T10:42:35Z' },
    ...over,
  });

  test.each([
    ['the lifetime that the server has granted', answer(), 3_607_000],
    [
      'a granted lifetime that is shorter than the requested one',
      answer({ spec: { expirationSeconds: 600 } }),
      600_000,
    ],
    [
      'a lifetime that ends at the expiry',
      answer({ metadata: { creationTimestamp: '2026-11-22T10:12:35Z' } }),
      1_800_000,
    ],
    ['no creation time', answer({ metadata: {} }), 3_607_000],
    ['an impossible creation time', answer({ metadata: { creationTimestamp: '2027-01-01T00:00:00Z' } }), 3_607_000],
  ])('determines the lifetime of the token: %s', (_, given, lifetimeMs) => {
    expect(readToken(given)).toEqual({ token: 'secret', lifetimeMs });
  });

  test.each([
    ['no object', undefined],
    ['no token', answer({ status: { token: '', expirationTimestamp: '2026-11-22T10:42:35Z' } })],
    ['an invalid expiry', answer({ status: { token: 'secret', expirationTimestamp: 'secret' } })],
    ['a lifetime of 0', answer({ spec: { expirationSeconds: 0 } })],
  ])('with %s is rejected as containing no token, and is not quoted in the error', (_, given) => {
    expect(() => readToken(given)).toThrow(/^the response of the API server contains no token$/);
  });
});
