import { describe, expect, test } from '@jest/globals';
import { FetchedObject } from '../../../../actors/objects/cache/fetchedObject.ts';
import { SimulatedClock } from '../../../../actors/simulated/simulatedClock.ts';
import { heldCluster, reads, shows } from '../support/heldCluster.ts';

describe.each(['Cache', 'Get'] as const)('%s', (strategy) => {
  test('an object is fetched by name, and a missing one is reported as not found', async () => {
    const { make, pod, store, read, asked } = await heldCluster({ strategy });
    await make('Secret', 'app', { key: 'hidden' });
    const web = await pod('web', reads('app'));
    store.follow(web);
    expect(await read(web, 'Secret', 'app')).toEqual({ key: 'hidden' });
    expect(await read(web, 'ConfigMap', 'app')).toBe('configmap "app" not found');
    expect(asked()).toEqual(['secrets', 'configmaps'].map((each) => `/api/v1/namespaces/default/${each}/app`));
  });

  test('a change of a mounted object is noticed at the next check, and its pods are notified', async () => {
    const { make, change, pod, store, read, told, clock } = await heldCluster({ strategy });
    await make('ConfigMap', 'app', { mode: 'slow' });
    const web = await pod('web', shows('app'));
    store.follow(web);
    await read(web, 'ConfigMap', 'app');
    await change('ConfigMap', 'app', { mode: 'fast' });
    await clock.advance(125_000);
    expect(told()).toEqual([[web.metadata.uid]]);
    expect(await read(web, 'ConfigMap', 'app')).toEqual({ mode: 'fast' });
  });

  test('the last fetched version is used while the API server is down', async () => {
    const { make, pod, store, read, transport, clock, facts } = await heldCluster({ strategy });
    await make('ConfigMap', 'app', { mode: 'slow' });
    const web = await pod('web', shows('app'));
    store.follow(web);
    await read(web, 'ConfigMap', 'app');
    transport.isAway = true;
    await clock.advance(300_000);
    expect(await read(web, 'ConfigMap', 'app')).toEqual({ mode: 'slow' });
    expect(facts.findLast((fact) => fact.type === 'cluster.watchChanged')).toMatchObject({
      state: { state: 'failing' },
    });
    transport.isAway = false;
    await clock.advance(125_000);
    expect(facts.findLast((fact) => fact.type === 'cluster.watchChanged')).toMatchObject({
      state: { state: 'watching' },
    });
  });

  test('an object that was missing still counts as missing while the API server is down, so optional references do not wait', async () => {
    const { pod, store, read, transport, clock } = await heldCluster({ strategy });
    const web = await pod('web', shows('app'));
    store.follow(web);
    await read(web, 'ConfigMap', 'app');
    transport.isAway = true;
    await clock.advance(300_000);
    expect(await read(web, 'ConfigMap', 'app')).toBe('configmap "app" not found');
  });

  test('an object that was never fetched fails with the error of the API server', async () => {
    const { pod, store, read, transport } = await heldCluster({ strategy });
    const web = await pod('web', reads('app'));
    store.follow(web);
    transport.isAway = true;
    expect(await read(web, 'Secret', 'app')).toContain('ECONNREFUSED');
  });
});

describe('the cache lifetime of an object', () => {
  const askedAfter = async (seconds: number, annotations: Record<string, string> = {}) => {
    const held = await heldCluster({ strategy: 'Cache' });
    held.annotate(annotations);
    await held.make('ConfigMap', 'app', { mode: 'slow' });
    const web = await held.pod('web', reads('app'));
    held.store.follow(web);
    await held.read(web, 'ConfigMap', 'app');
    await held.clock.advance(seconds * 1_000 - 1_000);
    await held.read(web, 'ConfigMap', 'app');
    return { ...held, asked: held.asked().length };
  };
  const ttl = (value: string) => ({ 'node.alpha.kubernetes.io/ttl': value });

  test('is one minute, or the TTL annotation of the Node', async () => {
    expect((await askedAfter(58)).asked).toBe(1);
    expect((await askedAfter(62)).asked).toBe(2);
    expect((await askedAfter(250, ttl('300'))).asked).toBe(1);
    expect((await askedAfter(5, ttl('0'))).asked).toBe(2);
    expect((await askedAfter(58, ttl('soon'))).asked).toBe(1);
  });

  test('ends when another pod references the object', async () => {
    const { pod, store, read, asked } = await heldCluster({ strategy: 'Cache' });
    const [one, two] = [await pod('one', reads('app')), await pod('two', reads('app'))];
    store.follow(one);
    await read(one, 'ConfigMap', 'app');
    store.follow(two);
    await read(two, 'ConfigMap', 'app');
    expect(asked().filter((path) => path.includes('configmaps'))).toHaveLength(2);
  });
});

test('the Get strategy fetches an object for every reader', async () => {
  const { make, pod, store, read, asked } = await heldCluster({ strategy: 'Get' });
  await make('ConfigMap', 'app', {});
  const web = await pod('web', reads('app'));
  store.follow(web);
  for (let index = 0; index < 3; index += 1) await read(web, 'ConfigMap', 'app');
  expect(asked()).toHaveLength(3);
});

test('a fetch that started before a pod arrived is not used for that pod', async () => {
  const answers: PromiseWithResolvers<unknown>[] = [];
  const get = () => {
    const answer = Promise.withResolvers<unknown>();
    answers.push(answer);
    return answer.promise;
  };
  const clock = new SimulatedClock();
  const reference = { kind: 'ConfigMap', namespace: 'default', name: 'app' } as const;
  const parts = { client: { get }, clock, ttlMs: () => 60_000, refreshMs: 60_000 };
  const held = new FetchedObject(reference, parts, { onObject: () => {}, onStep: () => {} });
  const { signal } = new AbortController();
  const answer = (at: number, resourceVersion: string) =>
    answers[at]?.resolve({ metadata: { namespace: 'default', name: 'app', uid: 'u', resourceVersion }, data: {} });
  const early = held.read({ signal });
  held.invalidate();
  const late = held.read({ signal });
  expect(answers).toHaveLength(2);
  answer(1, '8');
  answer(0, '7');
  expect([await early, await late].map((object) => object?.resourceVersion)).toEqual(['8', '8']);
  expect(await held.read({ signal })).toMatchObject({ resourceVersion: '8' });
  expect(answers).toHaveLength(2);
});
