import { describe, expect, test } from '@jest/globals';
import { createLayout } from '../../../host/pods/layout.ts';
import type { Volume } from '../../../kubernetes/api/schema/volume.ts';
import type { PodTokens } from '../../../kubernetes/objects/podObjects.ts';
import { collectPayload } from '../../../volume/plugins/payload.ts';
import { FakeObjects, fakeTokens } from '../../fakes/objects.ts';
import { podWith, requestOf } from '../onDisk.ts';

const layout = createLayout({ rootDir: '/root', podLogsDir: '/log' });
const objects = new FakeObjects();
objects.put('ConfigMap', 'settings', { data: { a: '1', b: '2' } });
objects.put('Secret', 'key', { data: { a: Buffer.from('3').toString('base64') } });
const trustBundles = { get: async () => 'PEM' };

type Sources = NonNullable<NonNullable<Volume['projected']>['sources']>;

const gather = (volume: Omit<Volume, 'name'>, spec: object = {}) =>
  collectPayload({
    ...requestOf(layout, { name: 'v', ...volume }, podWith(spec)),
    objects,
    tokens: fakeTokens(5_000),
    trustBundles,
  });
const files = async (...given: Parameters<typeof gather>) =>
  (await gather(...given)).files.map(({ path, data, mode, owner }) => [path, data.toString(), mode.toString(8), owner]);
const projected = (...sources: Sources) => ({ projected: { defaultMode: 0o640, sources } });

describe('C37: a projected volume', () => {
  const token = { serviceAccountToken: { path: 'token', expirationSeconds: 600, audience: 'vault' } };

  test('contains all its sources, with precedence for later ones, and the earliest renewal time', async () => {
    const sources = projected(
      { configMap: { name: 'settings' } },
      { secret: { name: 'key' } },
      { downwardAPI: { items: [{ path: 'name', fieldRef: { fieldPath: 'metadata.name' } }] } },
      token,
      { clusterTrustBundle: { name: 'roots', path: 'ca' } },
    );
    expect(await files(sources)).toEqual([
      ['a', '3', '640', undefined],
      ['b', '2', '640', undefined],
      ['name', 'web', '640', undefined],
      ['token', 'token of web for vault, 600 s', '640', undefined],
      ['ca', 'PEM', '640', undefined],
    ]);
    expect((await gather(sources)).renewAt).toBe(5_000);
    expect(await gather(projected({ secret: { name: 'key' } }))).not.toHaveProperty('renewAt');
  });

  test('reports the earliest expiry and the latest failure of several tokens', async () => {
    const failed = (at: number) => ({ failure: { reason: 'FailedRead', message: `at ${at}`, at } as const });
    const tokensBy = new Map([
      ['a', { token: 'a', renewAt: 9, goodUntil: 20, ...failed(2) }],
      ['b', { token: 'b', renewAt: 8, goodUntil: 10 }],
      ['c', { token: 'c', renewAt: 7, goodUntil: 30, ...failed(3) }],
      ['d', { token: 'd', renewAt: 7, goodUntil: 30, ...failed(1) }],
    ]);
    const sources = [...tokensBy.keys()].map((audience) => ({ serviceAccountToken: { path: audience, audience } }));
    const tokens: PodTokens = {
      get: async (_pod, { audience }) => tokensBy.get(audience) ?? { token: '', renewAt: 0 },
    };
    const volume = { name: 'v', ...projected(...sources) };
    const { files: _, ...told } = await collectPayload({ ...requestOf(layout, volume, podWith()), tokens });
    expect(told).toEqual({ renewAt: 7, goodUntil: 10, ...failed(3) });
  });

  test('reports all problems of its sources, each once', async () => {
    const missing = { configMap: { name: 'none' } };
    await expect(gather(projected(missing))).rejects.toMatchObject({
      reason: 'FailedMount',
      message: 'configmap "none" not found',
    });
    const keyless = { secret: { name: 'key', items: [{ key: 'z', path: 'z' }] } };
    await expect(gather(projected(missing, keyless, missing))).rejects.toThrow(
      '[configmap "none" not found, references non-existent secret key: z]',
    );
  });

  test.each<[string, object, string, number | undefined]>([
    ['whoever they are', {}, '640', undefined],
    ['with a group', { securityContext: { fsGroup: 7 } }, '600', undefined],
    ['of one user', { securityContext: { runAsUser: 5 } }, '600', 5],
    ['of one user, whoever says so', { containers: [ran(5), ran(5)] }, '600', 5],
    ['of several users', { securityContext: { runAsUser: 5 }, containers: [ran(6), ran()] }, '640', undefined],
    ['of some unknown user', { containers: [ran(5), ran()] }, '640', undefined],
    ['of an init container of another user', { containers: [ran(5)], initContainers: [ran(6)] }, '640', undefined],
  ])('exposes its tokens and anchors to containers %s', async (_who, spec, mode, owner) => {
    const anchors = { clusterTrustBundle: { name: 'roots', path: 'ca' } };
    const shown = await files(projected(token, anchors, { configMap: { name: 'settings' } }), spec);
    expect(shown.map(([path, , rights, user]) => [path, rights, user])).toEqual([
      ['token', mode, owner],
      ['ca', mode, owner],
      ['a', '640', undefined],
      ['b', '640', undefined],
    ]);
  });
});

function ran(runAsUser?: number) {
  return { name: 'c', image: 'busybox', ...(runAsUser === undefined ? {} : { securityContext: { runAsUser } }) };
}

describe('C37: a missing object', () => {
  test('is ignored if it is optional, unless the request was rejected', async () => {
    expect(await files({ configMap: { name: 'none', optional: true } })).toEqual([]);
    expect(await files({ secret: { secretName: 'none', optional: true, items: [{ key: 'k', path: 'p' }] } })).toEqual(
      [],
    );
    objects.trouble.set('Secret/shut', 'secrets "shut" is forbidden');
    await expect(gather({ secret: { secretName: 'shut', optional: true } })).rejects.toThrow(
      'secrets "shut" is forbidden',
    );
  });

  test.each([
    ['configMap', { configMap: { name: 'none' } }, 'configmap "none" not found'],
    ['secret', { secret: { secretName: 'none' } }, 'secret "none" not found'],
  ])('of a %s is reported with the message of a kubelet', async (_kind, volume, message) => {
    await expect(gather(volume)).rejects.toMatchObject({ reason: 'FailedMount', message });
  });
});

test('C37: no key or path leads out of the volume', async () => {
  objects.put('ConfigMap', 'evil', { data: { '../../etc/cron.d/x': '' } });
  await expect(gather({ configMap: { name: 'evil' } })).rejects.toThrow("invalid path: must not contain '..'");
  const items = [{ key: 'a', path: '..data/x' }];
  await expect(gather({ configMap: { name: 'settings', items } })).rejects.toThrow("must not start with '..'");
});

test('a cancelled mount rejects', async () => {
  const stopping = new AbortController();
  stopping.abort(new Error('stopped'));
  const request = { ...requestOf(layout, { name: 'v', configMap: { name: 'none' } }), objects };
  await expect(collectPayload({ ...request, signal: stopping.signal })).rejects.toThrow('stopped');
});
