import { describe, expect, test } from '@jest/globals';
import { heldCluster, reads, shows } from './support/heldCluster.ts';

describe('an object that a pod references', () => {
  test('is available as soon as the server has sent it', async () => {
    const { make, pod, store, read } = await heldCluster();
    await make('ConfigMap', 'app', { mode: 'fast' });
    await make('Secret', 'app', { key: 'hidden' });
    const web = await pod('web', reads('app'));
    store.follow(web);
    expect(await read(web, 'ConfigMap', 'app')).toEqual({ mode: 'fast' });
    expect(await read(web, 'Secret', 'app')).toEqual({ key: 'hidden' });
  });

  test('is watched once for all pods that reference it, until the last of them is removed', async () => {
    const { make, pod, store, asked, clock, transport } = await heldCluster();
    await make('ConfigMap', 'app', {});
    const [one, two] = [await pod('one', shows('app')), await pod('two', shows('app'))];
    store.follow(one);
    store.follow(two);
    store.follow(two);
    await clock.advance(0);
    expect(asked()).toEqual(['watch /api/v1/namespaces/default/configmaps']);
    store.release(one.metadata.uid);
    await clock.advance(3_600_000);
    expect(asked().length).toBeGreaterThan(1);
    store.release(two.metadata.uid);
    const before = asked().length;
    transport.cut();
    await clock.advance(3_600_000);
    expect(asked()).toHaveLength(before);
  });

  test('is not available to an unregistered pod', async () => {
    const { pod, read } = await heldCluster();
    expect(await read(await pod('web', shows('app')), 'ConfigMap', 'app')).toBe(
      'object "default"/"app" not registered',
    );
  });

  test('that is missing causes an error with its name, and readers are notified once it exists', async () => {
    const { make, pod, store, read, told, clock } = await heldCluster();
    const web = await pod('web', reads('constructor'));
    store.follow(web);
    expect(await read(web, 'ConfigMap', 'constructor')).toBe('configmap "constructor" not found');
    expect(told()).toEqual([]);
    await make('ConfigMap', 'constructor', { a: 'b' });
    await clock.advance(0);
    expect(told()).toEqual([[web.metadata.uid]]);
    expect(await read(web, 'ConfigMap', 'constructor')).toEqual({ a: 'b' });
  });

  test('only from an ephemeral or later container is available as well', async () => {
    const { make, pod, store, read } = await heldCluster();
    await make('ConfigMap', 'late', { a: 'b' });
    const web = await pod('web', { ...shows('app'), ...reads('late') });
    store.follow({ ...web, spec: { ...web.spec, containers: [] } });
    expect(await read(web, 'ConfigMap', 'late')).toEqual({ a: 'b' });
  });
});

describe('a change of an object', () => {
  test('is reported to all pods that use it', async () => {
    const { make, change, pod, store, told, clock, read } = await heldCluster();
    await make('ConfigMap', 'app', { mode: 'slow' });
    const [one, two, other] = [
      await pod('one', shows('app')),
      await pod('two', reads('app')),
      await pod('other', shows('another')),
    ];
    for (const each of [one, two, other]) store.follow(each);
    await clock.advance(0);
    expect(told()).toEqual([]);
    await change('ConfigMap', 'app', { mode: 'fast' });
    await clock.advance(0);
    expect(told()).toEqual([[one.metadata.uid, two.metadata.uid]]);
    expect(await read(two, 'ConfigMap', 'app')).toEqual({ mode: 'fast' });
  });

  test('in quick succession is reported at most once a second, including the last one', async () => {
    const { make, change, pod, store, told, clock, read } = await heldCluster();
    await make('ConfigMap', 'app', {});
    const web = await pod('web', shows('app'));
    store.follow(web);
    await clock.advance(0);
    for (let index = 0; index < 500; index += 1) {
      await change('ConfigMap', 'app', { count: String(index) });
      await clock.advance(10);
    }
    await clock.advance(1_000);
    expect(told().length).toBeLessThanOrEqual(7);
    expect(told().length).toBeGreaterThanOrEqual(5);
    expect(await read(web, 'ConfigMap', 'app')).toEqual({ count: '499' });
  });

  test('by deletion and recreation under the same name is reported', async () => {
    const { make, remove, pod, store, told, clock, read } = await heldCluster();
    await make('ConfigMap', 'app', { which: 'first' });
    const web = await pod('web', shows('app'));
    store.follow(web);
    await clock.advance(0);
    await remove('ConfigMap', 'app');
    await clock.advance(0);
    expect(await read(web, 'ConfigMap', 'app')).toBe('configmap "app" not found');
    await make('ConfigMap', 'app', { which: 'second' });
    await clock.advance(1_000);
    expect(await read(web, 'ConfigMap', 'app')).toEqual({ which: 'second' });
    expect(told()).toHaveLength(2);
  });
});

describe('while the API server is down', () => {
  test('the last version of an object is used', async () => {
    const { make, pod, store, read, transport, clock } = await heldCluster();
    await make('Secret', 'app', { key: 'hidden' });
    const web = await pod('web', reads('app'));
    store.follow(web);
    await clock.advance(0);
    transport.isAway = true;
    transport.cut();
    await clock.advance(120_000);
    expect(await read(web, 'Secret', 'app')).toEqual({ key: 'hidden' });
  });

  test('an object that was never read is awaited, and the pod is notified when it arrives', async () => {
    const { make, pod, store, read, told, transport, clock, facts } = await heldCluster();
    await make('Secret', 'app', { key: 'hidden' });
    const web = await pod('web', reads('app'));
    transport.isAway = true;
    store.follow(web);
    expect(await read(web, 'Secret', 'app')).toContain(
      'failed to sync secret cache: timed out waiting for the condition (connect ECONNREFUSED',
    );
    const failing = facts.findLast((fact) => fact.type === 'cluster.watchChanged' && fact.watch === 'Secret');
    expect(failing).toMatchObject({
      state: { state: 'failing', failure: { message: expect.stringContaining('default/app: connect ECONNREFUSED') } },
    });
    transport.isAway = false;
    await clock.advance(10_000);
    expect(told()).toEqual([[web.metadata.uid]]);
    expect(await read(web, 'Secret', 'app')).toEqual({ key: 'hidden' });
    expect(facts.at(-1)).toMatchObject({ watch: 'ConfigMap', state: { state: 'watching' } });
  });
});

test('a stopped object store sends no more requests', async () => {
  const { make, pod, store, stop, running, asked, clock, transport } = await heldCluster();
  await make('ConfigMap', 'app', {});
  store.follow(await pod('web', shows('app')));
  await clock.advance(0);
  stop();
  await running;
  transport.cut();
  await clock.advance(3_600_000);
  expect(asked()).toHaveLength(1);
});
