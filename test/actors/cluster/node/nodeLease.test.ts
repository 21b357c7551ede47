import { expect, test } from '@jest/globals';
import { NodeLease } from '../../../../actors/cluster/node/nodeLease.ts';
import { SimulatedClock } from '../../../../actors/simulated/simulatedClock.ts';
import { cluster } from '../../../fakes/cluster.ts';
import { joiningNode, LEASE, LEASES, NODE } from '../support/joiningNode.ts';

/** A node that is registered, and has asked for nothing since. */
async function registered() {
  const node = joiningNode();
  const { uid } = await node.register();
  node.asked();
  return { ...node, uid };
}

test('C35: it is made for the Node, and then renewed without asking how it is', async () => {
  const { uid, renew, ask, asked, clock } = await registered();
  expect(await renew()).toBe(true);
  expect(await ask('GET', LEASE)).toMatchObject({
    metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'node-1', uid }] },
    spec: { holderIdentity: 'node-1', leaseDurationSeconds: 40, renewTime: '2026-01-01T00:00:00.000000Z' },
  });
  expect(asked()).toEqual([`GET ${LEASE}`, `GET ${NODE}`, `POST ${LEASES}`]);
  await clock.advance(10_250);
  await renew();
  expect(asked()).toEqual([`PUT ${LEASE}`]);
  expect(await ask('GET', LEASE)).toMatchObject({ spec: { renewTime: '2026-01-01T00:00:10.250000Z' } });
});

test('without a Node there is none, and that is no failure', async () => {
  const { renew, asked } = joiningNode();
  expect(await renew()).toBe(false);
  expect(asked()).toEqual([`GET ${LEASE}`, `GET ${NODE}`]);
});

test('C35: of a Node that is deleted it is not made again', async () => {
  const { renew, ask, asked } = await registered();
  await renew();
  await ask('DELETE', NODE);
  await ask('DELETE', LEASE);
  asked();
  expect(await renew()).toBe(false);
  expect(asked()).toEqual([`PUT ${LEASE}`, `GET ${LEASE}`, `GET ${NODE}`]);
  expect(await renew()).toBe(false);
  expect(asked()).toEqual([`GET ${LEASE}`, `GET ${NODE}`]);
});

test('of a run before it is renewed, with the time that it lasts now', async () => {
  const before = await registered();
  await before.renew();
  before.asked();
  const after = new NodeLease({ ...before, leaseSeconds: 20 });
  await before.clock.advance(5_000);
  expect(await after.renew({ signal: new AbortController().signal })).toBe(true);
  expect(before.asked()).toEqual([`GET ${LEASE}`, `PUT ${LEASE}`]);
  expect(await before.ask('GET', LEASE)).toMatchObject({
    spec: { holderIdentity: 'node-1', leaseDurationSeconds: 20, renewTime: '2026-01-01T00:00:05.000000Z' },
  });
});

test('its owner is filled in where that is missing, and whether that can be had or not it is renewed', async () => {
  const { uid, renew, ask, asked, troubled } = await registered();
  await ask('POST', LEASES, { metadata: { name: 'node-1', namespace: 'kube-node-lease' }, spec: {} });
  troubled('get', { kind: 'refused', code: 500 }, 'nodes');
  expect(await renew()).toBe(true);
  expect(asked()).toEqual([`GET ${LEASE}`, `GET ${NODE}`, `PUT ${LEASE}`]);
  expect(await ask('GET', LEASE)).not.toHaveProperty('metadata.ownerReferences');
  await renew();
  expect(await ask('GET', LEASE)).toMatchObject({ metadata: { ownerReferences: [{ uid }] } });
  asked();
  await renew();
  expect(asked()).toEqual([`PUT ${LEASE}`]);
});

test('C35: what fails is tried five times at once, and then it is read', async () => {
  const { renew, asked, troubled } = await registered();
  await renew();
  asked();
  troubled('update', { kind: 'refused', code: 500 }, 'leases', 4);
  expect(await renew()).toBe(true);
  expect(asked()).toEqual(Array(5).fill(`PUT ${LEASE}`));
  troubled('update', { kind: 'refused', code: 500 }, 'leases', 6);
  await expect(renew()).rejects.toMatchObject({ code: 500 });
  expect(asked()).toEqual([...Array(5).fill(`PUT ${LEASE}`), `GET ${LEASE}`, `PUT ${LEASE}`]);
  await renew();
  expect(asked()).toEqual([`GET ${LEASE}`, `PUT ${LEASE}`]);
});

test('that somebody else has written is read at once, and what they have written stays', async () => {
  const { renew, ask, asked } = await registered();
  await renew();
  await ask('PATCH', LEASE, { metadata: { labels: { a: 'b' } } }, 'application/merge-patch+json');
  asked();
  expect(await renew()).toBe(true);
  expect(asked()).toEqual([`PUT ${LEASE}`, `GET ${LEASE}`, `PUT ${LEASE}`]);
  expect(await ask('GET', LEASE)).toMatchObject({ metadata: { labels: { a: 'b' } } });
});

test('a renewal that is given up is not tried again', async () => {
  const node = await registered();
  const lease = new NodeLease({ ...node, leaseSeconds: 40 });
  const ending = new AbortController();
  await lease.renew({ signal: ending.signal });
  node.asked();
  node.troubled('update', { kind: 'hung' }, 'leases');
  const renewing = lease.renew({ signal: ending.signal });
  await node.clock.advance(1_000);
  ending.abort(new Error('given up'));
  await expect(renewing).rejects.toThrow('given up');
  expect(node.asked()).toEqual([`PUT ${LEASE}`]);
});

test('it goes its own way to the server', async () => {
  const other = cluster(new SimulatedClock());
  const { renew, asked } = joiningNode({ leaseClient: other.leaseClient });
  await renew();
  expect(asked()).toEqual([]);
  expect(other.transport.requests.map(({ method }) => method)).toEqual(['GET', 'GET']);
});
