import { expect, test } from '@jest/globals';
import { heldCluster, reads, shows } from '../support/heldCluster.ts';

const MINUTE = 60_000;

test('an object that no volume mounts is watched until it has been unread for five checks of its pods', async () => {
  const { make, change, pod, store, read, told, clock, asked, transport } = await heldCluster();
  await make('ConfigMap', 'app', { mode: 'slow' });
  const web = await pod('web', {
    containers:
      reads('app').containers?.map((each) => ({ ...each, envFrom: [{ configMapRef: { name: 'app' } }] })) ?? [],
  });
  store.follow(web);
  await read(web, 'ConfigMap', 'app');
  await clock.advance(7 * MINUTE);
  const watches = asked().length;
  await change('ConfigMap', 'app', { mode: 'fast' });
  await clock.advance(1_000);
  expect(told()).toEqual([]);
  transport.cut();
  await clock.advance(10 * MINUTE);
  expect(asked()).toHaveLength(watches);
  // The next read returns the current version.
  expect(await read(web, 'ConfigMap', 'app')).toEqual({ mode: 'fast' });
  expect(asked()).toHaveLength(watches + 1);
});

test('a mounted object is watched as long as its pod exists', async () => {
  const { make, change, pod, store, told, clock } = await heldCluster();
  await make('ConfigMap', 'app', { mode: 'slow' });
  store.follow(await pod('web', shows('app')));
  await clock.advance(3 * 60 * MINUTE);
  await change('ConfigMap', 'app', { mode: 'fast' });
  await clock.advance(1_000);
  expect(told()).toHaveLength(1);
});

test('a missing object is watched until it exists', async () => {
  const { make, pod, store, read, told, clock } = await heldCluster();
  const web = await pod('web', reads('app'));
  store.follow(web);
  await read(web, 'Secret', 'app');
  await clock.advance(30 * MINUTE);
  await make('Secret', 'app', { key: 'hidden' });
  await clock.advance(1_000);
  expect(told()).toHaveLength(1);
});

test('an immutable object is read once and no longer watched', async () => {
  const { make, pod, store, read, clock, asked, transport } = await heldCluster();
  await make('ConfigMap', 'app', { mode: 'fixed' }, { immutable: true });
  const web = await pod('web', shows('app'));
  store.follow(web);
  await clock.advance(0);
  transport.cut();
  await clock.advance(60 * MINUTE);
  expect(await read(web, 'ConfigMap', 'app')).toEqual({ mode: 'fixed' });
  expect(asked()).toHaveLength(1);
});

test('an object that the node may not read yet becomes available once the permission exists', async () => {
  const { make, pod, store, read, told, clock, ask } = await heldCluster();
  await make('Secret', 'app', { key: 'hidden' });
  const web = await pod('web', shows('other'));
  // No pod of the node at the server references the Secret, so the node may not read it.
  const named = { ...web, spec: { ...web.spec, ...reads('app') } };
  store.follow(named);
  expect(await read(named, 'Secret', 'app')).toMatch(
    /^failed to sync secret cache: timed out waiting for the condition \(secrets "app" is forbidden/,
  );
  await pod('another', reads('app'));
  await clock.advance(60_000);
  expect(told()).toEqual([[web.metadata.uid]]);
  expect(await read(named, 'Secret', 'app')).toEqual({ key: 'hidden' });
  expect(ask).toBeDefined();
});

test('a missing object counts as missing even after the connection to the server is lost', async () => {
  const { pod, store, read, clock, transport } = await heldCluster();
  const web = await pod('web', reads('app'));
  store.follow(web);
  const missing = 'configmap "app" not found';
  expect(await read(web, 'ConfigMap', 'app')).toBe(missing);
  transport.isAway = true;
  transport.cut();
  await clock.advance(5_000);
  expect(await read(web, 'ConfigMap', 'app')).toBe(missing);
  transport.isAway = false;
  await clock.advance(MINUTE);
  expect(await read(web, 'ConfigMap', 'app')).toBe(missing);
});

test('waiting for an object ends when its caller aborts', async () => {
  const { pod, store, transport, clock } = await heldCluster();
  transport.isAway = true;
  const web = await pod('web', reads('app')).catch(() => undefined);
  expect(web).toBeDefined();
  if (web === undefined) return;
  store.follow(web);
  const controller = new AbortController();
  const asked = store.get(web, 'Secret', 'app', { signal: controller.signal });
  await clock.advance(0);
  controller.abort(new Error('enough'));
  await expect(asked).rejects.toThrow('enough');
});
