/** Service account tokens, which the API server issues and authenticates. */
import { describe, expect, test } from '@jest/globals';
import { cluster } from '../../../fakes/cluster.ts';
import { SettableClock } from '../../../fakes/settableClock.ts';

const [SECOND, MINUTE] = [1_000, 60_000];
const BASE = '/api/v1/namespaces/default';
const ISSUER = 'https://kubernetes.default.svc';
const volume = { name: 'v', projected: { sources: [{ serviceAccountToken: { audience: 'vault', path: 'token' } }] } };

type Named = { readonly metadata: { readonly name: string; readonly uid: string } };

/** Returns a cluster with a node, a Secret, a service account, and a pod on the node that uses the service account. */
async function createCluster() {
  const clock = new SettableClock();
  const { api, ask } = cluster(clock);
  // Safe cast, because the server assigns a UID to each object.
  const create = async (path: string, body: object) => (await ask('POST', path, body)) as unknown as Named;
  const objects = {
    Node: await create('/api/v1/nodes', { metadata: { name: 'node-1' } }),
    Secret: await create(`${BASE}/secrets`, { metadata: { name: 'key' } }),
    ServiceAccount: await create(`${BASE}/serviceaccounts`, { metadata: { name: 'builder' } }),
    Pod: await create(`${BASE}/pods`, {
      metadata: { name: 'web' },
      spec: {
        nodeName: 'node-1',
        serviceAccountName: 'builder',
        volumes: [volume],
        containers: [{ name: 'app', image: 'app:1' }],
      },
    }),
  };
  const boundTo = (kind: 'Pod' | 'Secret' | 'Node') => ({
    boundObjectRef: { apiVersion: 'v1', kind, name: objects[kind].metadata.name, uid: objects[kind].metadata.uid },
  });
  const request = async (spec: object) => {
    const answer = await ask('POST', `${BASE}/serviceaccounts/builder/token`, {
      kind: 'TokenRequest',
      apiVersion: 'authentication.k8s.io/v1',
      spec,
    });
    // Safe cast, because the response is a TokenRequest.
    return answer as { status: { token: string; expirationTimestamp: string }; spec: { expirationSeconds: number } };
  };
  return {
    clock,
    ask,
    objects,
    boundTo,
    request,
    tokenOf: async (spec: object) => (await request(spec)).status.token,
    isAccepted: async (token: string) => {
      const headers = new Map([['authorization', `Bearer ${token}`]]);
      return (await api.respond({ method: 'GET', url: '/api', headers, body: '' })).code !== 401;
    },
  };
}

const claimsOf = (token: string) => JSON.parse(String(Buffer.from(token.split('.')[1] ?? '', 'base64url')));

test('the claims of a token state its audience, subject, bound objects and lifetime', async () => {
  const { tokenOf, boundTo, objects, clock } = await createCluster();
  const iat = Math.floor(clock.now() / SECOND);
  expect(claimsOf(await tokenOf({ audiences: ['vault'], expirationSeconds: 600, ...boundTo('Pod') }))).toEqual({
    iss: ISSUER,
    aud: ['vault'],
    sub: 'system:serviceaccount:default:builder',
    jti: expect.any(String),
    iat,
    nbf: iat,
    exp: iat + 600,
    'kubernetes.io': {
      namespace: 'default',
      serviceaccount: { name: 'builder', uid: objects.ServiceAccount.metadata.uid },
      pod: { name: 'web', uid: objects.Pod.metadata.uid },
      node: { name: 'node-1', uid: objects.Node.metadata.uid },
    },
  });
});

test('a token without an audience is for the API server and valid for an hour', async () => {
  const { request, clock } = await createCluster();
  const { status, spec } = await request({});
  const { aud, exp, iat } = claimsOf(status.token);
  expect([aud, exp - iat, spec.expirationSeconds]).toEqual([[ISSUER], 3_600, 3_600]);
  expect(Date.parse(status.expirationTimestamp)).toBe(clock.now() + 3_600 * SECOND);
});

test('a pod token requested by admission is valid for a year, but reports the requested expiry', async () => {
  const { request, boundTo, clock } = await createCluster();
  const { status } = await request({ expirationSeconds: 3_607, ...boundTo('Pod') });
  const { exp, iat, 'kubernetes.io': own } = claimsOf(status.token);
  expect([exp - iat, own.warnafter - iat]).toEqual([365 * 24 * 3_600, 3_607]);
  expect(Date.parse(status.expirationTimestamp)).toBe(clock.now() + 3_607 * SECOND);
});

test('the metadata of a token request must match the service account', async () => {
  const { ask, objects } = await createCluster();
  const { uid } = objects.ServiceAccount.metadata;
  const request = (metadata: object) =>
    ask('POST', `${BASE}/serviceaccounts/builder/token`, {
      kind: 'TokenRequest',
      apiVersion: 'authentication.k8s.io/v1',
      metadata,
      spec: {},
    });
  expect(await request({ name: 'builder', namespace: 'default', uid })).toMatchObject({ metadata: { uid } });
  const invalid = (field: string, value: string) =>
    `422: TokenRequest.authentication.k8s.io "builder" is invalid: metadata.${field}: Invalid value: "${value}": must match the service account ${field} if specified`;
  await expect(request({ name: 'other' })).rejects.toThrow(invalid('name', 'other'));
  await expect(request({ namespace: 'other' })).rejects.toThrow(/namespace/);
  await expect(request({ uid: 'former' })).rejects.toThrow(
    `409: Operation cannot be fulfilled on TokenRequest.authentication.k8s.io "builder": the UID in the token request (former) does not match the UID of the service account (${uid})`,
  );
});

test('the lifetime of a token is at least ten minutes and at most 2^32 seconds', async () => {
  const { request } = await createCluster();
  await expect(request({ expirationSeconds: 599 })).rejects.toThrow('may not specify a duration less than 10 minutes');
  await expect(request({ expirationSeconds: 2 ** 33 })).rejects.toThrow('larger than 2^32 seconds');
});

test('a token is accepted from one minute before its start to one minute after its expiry', async () => {
  const { tokenOf, isAccepted, clock } = await createCluster();
  const token = await tokenOf({ expirationSeconds: 600 });
  expect(await isAccepted(token)).toBe(true);
  clock.set(11 * MINUTE);
  expect(await isAccepted(token)).toBe(true);
  clock.set(SECOND);
  expect(await isAccepted(token)).toBe(false);
  clock.set(-12 * MINUTE - SECOND);
  expect(await isAccepted(token)).toBe(true);
  clock.set(-SECOND);
  expect(await isAccepted(token)).toBe(false);
});

test('a token for a different audience or with modified claims is rejected', async () => {
  const { tokenOf, isAccepted } = await createCluster();
  expect(await isAccepted(await tokenOf({ audiences: ['vault'] }))).toBe(false);
  const [header, , signature] = (await tokenOf({})).split('.');
  const payload = Buffer.from(JSON.stringify({ aud: [ISSUER], exp: 9e9, nbf: 0 })).toString('base64url');
  expect(await isAccepted(`${header}.${payload}.${signature}`)).toBe(false);
  expect(await isAccepted('a.b')).toBe(false);
});

describe('the object that a token is bound to', () => {
  test.each([
    ['Pod', `${BASE}/pods/web`],
    ['Secret', `${BASE}/secrets/key`],
    ['Node', '/api/v1/nodes/node-1'],
  ] as const)('invalidates the token when it is deleted: %s', async (kind, path) => {
    const { tokenOf, boundTo, isAccepted, ask } = await createCluster();
    const token = await tokenOf(boundTo(kind));
    expect(await isAccepted(token)).toBe(true);
    await ask('DELETE', path, { gracePeriodSeconds: 0 });
    expect(await isAccepted(token)).toBe(false);
  });

  test('is always the service account with its UID', async () => {
    const { tokenOf, isAccepted, ask } = await createCluster();
    const token = await tokenOf({});
    await ask('DELETE', `${BASE}/serviceaccounts/builder`);
    await ask('POST', `${BASE}/serviceaccounts`, { metadata: { name: 'builder' } });
    expect(await isAccepted(token)).toBe(false);
  });

  test('may be terminating until one minute after its grace period', async () => {
    const { tokenOf, boundTo, isAccepted, ask, clock } = await createCluster();
    const token = await tokenOf(boundTo('Pod'));
    await ask('DELETE', `${BASE}/pods/web`, { gracePeriodSeconds: 30 });
    await clock.advance(90 * SECOND);
    expect(await isAccepted(token)).toBe(true);
    await clock.advance(SECOND);
    expect(await isAccepted(token)).toBe(false);
  });

  test('is not the node if the token is bound to a pod, whose node is only a claim', async () => {
    const { tokenOf, boundTo, isAccepted, ask } = await createCluster();
    const token = await tokenOf(boundTo('Pod'));
    await ask('DELETE', '/api/v1/nodes/node-1');
    expect(await isAccepted(token)).toBe(true);
  });

  test('must match the name and the UID in the request', async () => {
    const { request, boundTo } = await createCluster();
    const { boundObjectRef } = boundTo('Pod');
    await expect(request({ boundObjectRef: { ...boundObjectRef, uid: 'other' } })).rejects.toThrow(
      'the UID in the bound object reference (other) does not match the UID in record',
    );
    await expect(request({ boundObjectRef: { ...boundObjectRef, name: 'none' } })).rejects.toThrow('404: pods "none"');
  });
});
