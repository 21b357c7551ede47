import { describe, expect, test } from '@jest/globals';
import {
  ClusterTrustBundles,
  NOT_SUPPORTED_MESSAGE,
  noTrustBundles,
} from '../../../actors/objects/clusterTrustBundles.ts';
import { KubeClient } from '../../../kubeclient/client.ts';
import type { TrustBundleProjection } from '../../../kubernetes/objects/trustBundles.ts';
import type { SourceState } from '../../../machines/node/pods/source.ts';
import type { NodeFact } from '../../../machines/shared/events/events.ts';
import { SettableClock } from '../../fakes/settableClock.ts';
import {
  answered,
  type Reply,
  refused,
  silent,
  ToldTransport,
  ToldWatch,
  unreachable,
} from '../../fakes/toldTransport.ts';
import { aPod } from '../../kubernetes/fixtures.ts';

const BETA = '/apis/certificates.k8s.io/v1beta1';
const ALPHA = '/apis/certificates.k8s.io/v1alpha1';
const TRUST_BUNDLE = { apiVersion: 'certificates.k8s.io/v1beta1', kind: 'ClusterTrustBundle' };
const signer = 'example.com/mesh';
const RESOURCE_LIST = { apiVersion: 'v1', kind: 'APIResourceList' };
const served = answered(200, { ...RESOURCE_LIST, resources: [{ name: 'clustertrustbundles' }] });
const pemOf = (...words: string[]) =>
  words
    .map((word) => `-----BEGIN CERTIFICATE-----\n${Buffer.from(word).toString('base64')}\n-----END CERTIFICATE-----\n`)
    .join('');
const pod = (uid: string) => aPod({}, { uid });

function bundle(name: string, words: readonly string[], { signerName = '', labels = {} } = {}) {
  const spec = { ...(signerName === '' ? {} : { signerName }), trustBundle: `# ${name}\n${pemOf(...words)}` };
  return { ...TRUST_BUNDLE, metadata: { uid: `u-${name}`, resourceVersion: '5', name, labels }, spec };
}

const ALL = [
  bundle('ca', ['root']),
  bundle('mesh:a', ['a', 'shared'], { signerName: signer, labels: { live: 'yes' } }),
  bundle('mesh:b', ['b', 'shared'], { signerName: signer }),
  bundle('other:c', ['c'], { signerName: 'example.com/other', labels: { live: 'yes' } }),
];

/** Starts a client with replies until its watch is open. Then the server sends its bundles through the watch. */
function story(...before: readonly Reply[]) {
  const clock = new SettableClock();
  const watch = new ToldWatch();
  const transport = new ToldTransport(...(before.length > 0 ? before : [served]), watch.opened);
  const [changed, errors, told] = [[] as string[], [] as string[], [] as (SourceState | null)[]];
  const bundles = new ClusterTrustBundles({
    client: new KubeClient({ transport, clock, userAgent: 'statelet/test' }),
    clock,
    jitter: () => 0,
    onError: (source, error) => errors.push(`${source}: ${(error as Error).message}`),
  });
  const ending = new AbortController();
  const { signal } = new AbortController();
  const take = (fact: NodeFact) => {
    if (fact.type === 'cluster.objectsChanged') changed.push(...fact.uids);
    if (fact.type === 'cluster.watchChanged') told.push(fact.state);
  };
  const running = bundles.run(take, { signal: ending.signal });
  return {
    clock,
    watch,
    transport,
    bundles,
    errors,
    told,
    end: async () => {
      ending.abort();
      await running;
      await clock.advance(0);
    },
    get: (projection: Partial<TrustBundleProjection>, uid = 'u-1') =>
      bundles.get(pod(uid), { path: 'ca.pem', ...projection }, { signal }),
    tellAll: async (all: readonly object[] = ALL, apiVersion = TRUST_BUNDLE.apiVersion) => {
      await clock.advance(0);
      for (const object of all) watch.tell('ADDED', { ...object, apiVersion });
      const annotations = { 'k8s.io/initial-events-end': 'true' };
      watch.tell('BOOKMARK', { ...TRUST_BUNDLE, apiVersion, metadata: { resourceVersion: '5', annotations } });
      await clock.advance(0);
    },
    tell: async (type: string, object: { metadata: object }, resourceVersion: string) => {
      watch.tell(type, { ...object, metadata: { ...object.metadata, resourceVersion } });
      await clock.advance(0);
    },
    /** Returns the pods that were notified since the last call. */
    toldToLook: () => changed.splice(0),
    paths: () => transport.requests.map(({ path }) => path.split('?')[0]),
  };
}

const blocks = (text: string) => text.split(/(?<=-----END CERTIFICATE-----\n)/).toSorted();

test('trust bundles are not requested before a pod mounts one, and then all are listed once', async () => {
  const { get, tellAll, paths } = story();
  expect(paths()).toEqual([]);
  const shown = Promise.all([
    get({ name: 'ca' }),
    get({ name: 'ca' }, 'u-2'),
    get({ signerName: signer, labelSelector: {} }),
  ]);
  await tellAll();
  const [one, other, mesh] = await shown;
  expect([one, other]).toEqual([pemOf('root'), pemOf('root')]);
  expect(blocks(mesh ?? '')).toEqual(blocks(pemOf('a', 'b', 'shared')));
  expect(paths().filter((path) => path?.endsWith('bundles'))).toEqual([`${BETA}/clustertrustbundles`]);
  expect(await get({ name: 'ca' })).toBe(pemOf('root'));
});

describe('selection by signer', () => {
  test.each([
    ['with an empty selector: all of that signer', {}, ['a', 'b', 'shared']],
    ['with a selector: those it selects', { matchLabels: { live: 'yes' } }, ['a', 'shared']],
  ])('%s', async (_, labelSelector, words) => {
    const { get, tellAll } = story();
    const shown = get({ signerName: signer, labelSelector });
    await tellAll();
    expect(blocks(await shown)).toEqual(blocks(pemOf(...words)));
  });

  test('without a selector matches no bundle', async () => {
    const { get, tellAll } = story();
    const shown = get({ signerName: signer }).catch(String);
    await tellAll();
    expect(await shown).toBe('Error: combination of signerName and labelSelector matched zero ClusterTrustBundles');
  });
});

test('a missing trust bundle is reported with the message of a kubelet, or is empty if it is optional', async () => {
  const { get, tellAll } = story();
  const shown = get({ name: 'x' }).catch(String);
  await tellAll();
  expect(await shown).toBe(
    'Error: while getting ClusterTrustBundle: clustertrustbundle.certificates.k8s.io "x" not found',
  );
  expect(await get({ name: 'x', optional: true })).toBe('');
  expect(await get({ signerName: 'nobody', labelSelector: {}, optional: true })).toBe('');
});

test('only the pods whose mounted trust bundles changed are notified', async () => {
  const { get, tellAll, tell, toldToLook } = story();
  const shown = [get({ name: 'ca' }, 'u-ca'), get({ signerName: signer, labelSelector: {} }, 'u-mesh')];
  await tellAll();
  await Promise.all(shown);
  await expect(get({ name: 'late' }, 'u-late')).rejects.toThrow('not found');
  await tell('MODIFIED', bundle('ca', ['new']), '6');
  expect(toldToLook()).toEqual(['u-ca']);
  expect(await get({ name: 'ca' }, 'u-ca')).toBe(pemOf('new'));
  await tell('ADDED', bundle('late', ['late']), '7');
  expect(toldToLook()).toEqual(['u-late']);
  await tell('ADDED', bundle('mesh:d', ['shared'], { signerName: signer }), '8');
  await tell('MODIFIED', bundle('ca', ['new'], { labels: { live: 'no' } }), '9');
  expect(toldToLook()).toEqual([]);
  await tell('DELETED', bundle('ca', ['new']), '10');
  expect(toldToLook()).toEqual(['u-ca']);
});

test('trust bundles are watched as long as a pod mounts any', async () => {
  const { get, tellAll, bundles, transport, clock, toldToLook, end } = story();
  const shown = Promise.all([get({ name: 'ca' }, 'u-1'), get({ name: 'ca' }, 'u-2')]);
  await tellAll();
  await shown;
  bundles.forget('u-1');
  expect(clock.pending).toBeGreaterThan(0);
  bundles.forget('u-2');
  await clock.advance(0);
  expect(clock.pending).toBe(0);
  const next = new ToldWatch();
  transport.replies.push(served, next.opened);
  const again = get({ name: 'ca' }, 'u-3');
  await clock.advance(0);
  next.tell('ADDED', bundle('ca', ['third']));
  next.tell('BOOKMARK', {
    ...TRUST_BUNDLE,
    metadata: { resourceVersion: '9', annotations: { 'k8s.io/initial-events-end': 'true' } },
  });
  expect(await again).toBe(pemOf('third'));
  expect(toldToLook()).toEqual([]);
  await end();
  expect(clock.pending).toBe(0);
});

test('the state of the trust bundle watch is reported as long as a pod mounts any', async () => {
  const { get, tellAll, tell, bundles, told, watch, clock, end } = story();
  const shown = get({ name: 'ca' });
  await tellAll();
  await shown;
  expect(told).toMatchObject([
    { state: 'reading', place: 'those of its cluster' },
    { state: 'watching', counts: { objectCount: 4, unavailableObjects: [] } },
  ]);
  await tell('ADDED', bundle('more', ['m']), '6');
  expect(told.at(-1)).toMatchObject({ state: 'watching', counts: { objectCount: 5 } });
  watch.cut();
  await clock.advance(100);
  expect(told.at(-1)).toMatchObject({ state: 'failing', until: expect.any(Number) });
  bundles.forget('u-1');
  expect(told.at(-1)).toBeNull();
  const before = told.length;
  await end();
  expect(told).toHaveLength(before);
});

test('the last version of a trust bundle is used while the API server is down', async () => {
  const { get, tellAll, watch, clock } = story();
  const shown = get({ name: 'ca' });
  await tellAll();
  await shown;
  watch.cut();
  await clock.advance(600_000);
  expect(await get({ name: 'ca' })).toBe(pemOf('root'));
});

describe('an API server that', () => {
  test('has only the older API version is queried with that version', async () => {
    const { get, tellAll, paths } = story(refused(404, 'NotFound'), served);
    const shown = get({ name: 'ca' });
    await tellAll(ALL, 'certificates.k8s.io/v1alpha1');
    expect(await shown).toBe(pemOf('root'));
    expect(paths()).toEqual([BETA, ALPHA, `${ALPHA}/clustertrustbundles`]);
  });

  test('has no trust bundle API is checked again for the next pod', async () => {
    const others = answered(200, { ...RESOURCE_LIST, resources: [{ name: 'certificatesigningrequests' }] });
    const { get, tellAll } = story(others, refused(404, 'NotFound'), served);
    await expect(get({ name: 'ca' })).rejects.toThrow(NOT_SUPPORTED_MESSAGE);
    const shown = get({ name: 'ca' });
    await tellAll();
    expect(await shown).toBe(pemOf('root'));
  });

  test('is down causes an error with the reason', async () => {
    const { get, told, bundles } = story(unreachable());
    await expect(get({ name: 'ca' })).rejects.toThrow(
      'failed to ensure informer manager for ClusterTrustBundles: failed to determine which informer manager to choose: connect ECONNREFUSED 127.0.0.1:6443',
    );
    expect(told.at(-1)).toMatchObject({
      state: 'failing',
      failure: { message: expect.stringMatching(/ECONNREFUSED/) },
    });
    bundles.forget('u-1');
    expect(told.at(-1)).toBeNull();
  });

  test.each([
    ['tells nothing', silent(), /^ClusterTrustBundle informer has not yet synced/],
    ['refuses', refused(403, 'Forbidden'), /^ClusterTrustBundle informer has not yet synced: Forbidden it is$/],
  ])('%s delays a volume for at most ten seconds', async (_, reply, why) => {
    const { get, clock, transport, end } = story();
    transport.replies.splice(1, 1, ...Array.from({ length: 20 }, () => reply));
    const start = clock.now();
    await expect(clock.advanceUntilSettled(get({ name: 'ca' }))).rejects.toThrow(why);
    expect(clock.now() - start).toBe(10_000);
    await end();
  });

  test('has an unreadable trust bundle causes an error for it, and the others are used', async () => {
    const { get, tellAll, errors } = story();
    const shown = get({ name: 'ca' });
    await tellAll([...ALL, { ...TRUST_BUNDLE, metadata: { uid: 'u-x', name: 'odd', resourceVersion: '5' }, spec: {} }]);
    expect(await shown).toBe(pemOf('root'));
    expect(errors).toEqual([expect.stringMatching(/^watch: ClusterTrustBundle odd cannot be read: spec.trustBundle/)]);
  });
});

test('an aborted request for a trust bundle stops waiting', async () => {
  const { bundles, clock } = story(silent());
  const leaving = new AbortController();
  const options = { signal: leaving.signal };
  const shown = bundles.get(pod('u-1'), { name: 'ca', path: 'ca.pem' }, options).catch(String);
  await clock.advance(0);
  leaving.abort(new Error('no more'));
  expect(await shown).toBe('Error: no more');
  await expect(bundles.get(pod('u-1'), { name: 'ca', path: 'ca.pem' }, options)).rejects.toThrow('no more');
});

test('without the feature gate trust bundles are not supported', async () => {
  const { signal } = new AbortController();
  await expect(noTrustBundles.get(aPod(), { name: 'ca', path: 'ca.pem' }, { signal })).rejects.toThrow(
    'ClusterTrustBundle projection is not supported in static kubelet mode',
  );
  await noTrustBundles.run(() => {}, { signal });
  noTrustBundles.forget('u-1');
});

test('trust bundles are no longer watched once the agent has stopped, even if it stopped before the watch started', async () => {
  const { bundles, end, clock } = story();
  await end();
  await bundles.run(() => {}, { signal: AbortSignal.abort() });
  expect(clock.pending).toBe(0);
});
