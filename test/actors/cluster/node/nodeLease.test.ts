import { expect, test } from '@jest/globals';
import { NodeLease } from '../../../../actors/cluster/node/nodeLease.ts';
import { SimulatedClock } from '../../../../actors/simulated/simulatedClock.ts';
import { cluster } from '../../../fakes/cluster.ts';
import { joiningNode, LEASE, LEASES, NODE } from '../support/joiningNode.ts';

/** Returns a registered node. The requests of the registration are removed from `asked`. */
async function registered() {
  const node = joiningNode();
  const { uid } = await node.register();
  node.asked();
  return { ...node, uid };
}

test('C35: the lease is created for the Node, and then renewed without being read', async () => {
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

test('without a Node no lease is created, which is not a failure', async () => {
  const { renew, asked } = joiningNode();
  expect(await renew()).toBe(false);
  expect(asked()).toEqual([`GET ${LEASE}`, `GET ${NODE}`]);
});

test('C35: the lease of a deleted Node is not recreated', async () => {
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

test('a lease from an earlier run is renewed with the current duration', async () => {
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

test('a missing owner of the lease is added, and the lease is renewed even if the Node cannot be read', async () => {
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

test('C35: a failing renewal is attempted five times at once, and then the lease is read before each attempt', async () => {
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

test('a lease that another client has changed is read at once, and the change is preserved', async () => {
  const { renew, ask, asked } = await registered();
  await renew();
  await ask('PATCH', LEASE, { metadata: { labels: { a: 'b' } } }, 'application/merge-patch+json');
  asked();
  expect(await renew()).toBe(true);
  expect(asked()).toEqual([`PUT ${LEASE}`, `GET ${LEASE}`, `PUT ${LEASE}`]);
  expect(await ask('GET', LEASE)).toMatchObject({ metadata: { labels: { a: 'b' } } });
});

test('an aborted renewal is not retried', async () => {
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

test('the lease uses a separate client', async () => {
  const other = cluster(new SimulatedClock());
  const { renew, asked } = joiningNode({ leaseClient: other.leaseClient });
  await renew();
  expect(asked()).toEqual([]);
  expect(other.transport.requests.map(({ method }) => method)).toEqual(['GET', 'GET']);
});
