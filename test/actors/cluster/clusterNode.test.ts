import { describe, expect, test } from '@jest/globals';
import {
  ClusterNode,
  type ClusterNodeParts,
  type ClusterPort,
  noCluster,
} from '../../../actors/cluster/clusterNode.ts';
import { SimulatedClock } from '../../../actors/simulated/simulatedClock.ts';
import type { Fault } from '../../../apiserver/faults.ts';
import { type NodeKnowledge, nodeObject } from '../../../pod/node/nodeObject.ts';
import { cluster } from '../../fakes/cluster.ts';

const NODES = '/api/v1/nodes';
const NODE = `${NODES}/node-1`;
const LEASE = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/node-1';
const CSI_NODES = '/apis/storage.k8s.io/v1/csinodes';
const CSI_NODE = `${CSI_NODES}/node-1`;
const MINUTE = 60_000;
const LABELS = { 'kubernetes.io/hostname': 'node-1', 'kubernetes.io/os': 'linux' };
const MARK = { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' };

/** A node that does not know its cluster yet. */
function beforeJoining(more: Partial<ClusterNodeParts> = {}) {
  const clock = new SimulatedClock();
  const made = cluster(clock);
  const startedAt = clock.now();
  const changes: { of: Partial<NodeKnowledge> } = { of: {} };
  const amounts = { cpuMillis: 2_000, memoryBytes: 2 ** 32, pods: 110 };
  const describe = () =>
    nodeObject({
      ...{ name: 'node-1', labels: LABELS, taints: [], capacity: amounts, allocatable: amounts, host: made.host },
      ...{ addresses: ['192.0.2.1'], startedAt, now: clock.now() },
      runtime: { name: 'containerd', version: '2.0', ready: true, since: startedAt },
      ...changes.of,
    });
  const node = new ClusterNode({ ...made, clock, describe, nodeName: 'node-1', ...more });
  const options = { signal: new AbortController().signal };
  /** What the node has asked for since it was looked at last. */
  const asked = () => made.transport.requests.splice(0).map(({ method, path }) => `${method} ${path}`);
  const troubled = (verb: string, fault: Fault) =>
    made.api.faults.add({ fault, matches: (request, user) => request.verb === verb && user !== 'admin', times: 1 });
  return {
    ...{ ...made, clock, node, changes, asked, troubled },
    register: () => node.ports.registerNode(null, options),
    putStatus: async () => (await node.ports.putNodeStatus(null, options)).isWritten,
    renew: () => node.ports.renewLease(null, options),
    ensureCsiNode: (uid: string) => node.ports.ensureCsiNode({ uid }, options),
  };
}

describe('registering', () => {
  test('makes the Node with its status, and gives and tells its UID', async () => {
    const told: string[] = [];
    const { register, node, ask } = beforeJoining({ onNodeUid: (uid) => told.push(uid) });
    expect(node.uid).toBe('');
    const { uid } = await register();
    expect([node.uid, ...told]).toEqual([uid, uid]);
    expect(await ask('GET', NODE)).toMatchObject({
      metadata: { uid, labels: LABELS, annotations: MARK },
      status: { capacity: { cpu: '2', pods: '110' }, addresses: [{ type: 'InternalIP', address: '192.0.2.1' }, {}] },
    });
  });

  test('takes over the Node that is there, and sets right what is for the node to say', async () => {
    const { register, ask, asked } = beforeJoining();
    const labels = { 'kubernetes.io/hostname': 'else', 'example.com/rack': '7' };
    const { metadata } = await ask('POST', NODES, { metadata: { name: 'node-1', labels, annotations: { note: 'x' } } });
    expect(metadata).toMatchObject(await register());
    expect(asked()).toEqual([`POST ${NODES}`, `GET ${NODE}`, `PATCH ${NODE}/status`]);
    expect(await ask('GET', NODE)).toMatchObject({
      metadata: { labels: { ...LABELS, 'example.com/rack': '7' }, annotations: { note: 'x', ...MARK } },
    });
  });

  test('again writes nothing that is right already', async () => {
    const { register, asked } = beforeJoining();
    const { uid } = await register();
    asked();
    expect(await register()).toEqual({ uid });
    expect(asked()).toEqual([`POST ${NODES}`, `GET ${NODE}`]);
  });

  test('waits for somebody else to make the Node, if that is not for the node to do', async () => {
    const { register, ask, asked, node } = beforeJoining({ registers: false });
    await expect(register()).rejects.toMatchObject({ code: 404 });
    expect(node.uid).toBe('');
    const { metadata } = await ask('POST', NODES, { metadata: { name: 'node-1' } });
    expect(metadata).toMatchObject(await register());
    expect(asked()).toEqual([`GET ${NODE}`, `GET ${NODE}`]);
    expect(await ask('GET', NODE)).not.toMatchObject({ metadata: { annotations: MARK } });
  });

  test('takes over the Node too if the server does not let it make one', async () => {
    const { register, ask, troubled } = beforeJoining();
    troubled('create', { kind: 'refused', code: 403 });
    const { metadata } = await ask('POST', NODES, { metadata: { name: 'node-1' } });
    expect(metadata).toMatchObject(await register());
  });

  test('fails while the server fails, and does not look for a Node then', async () => {
    const { register, troubled, asked } = beforeJoining();
    troubled('create', { kind: 'refused', code: 500 });
    await expect(register()).rejects.toMatchObject({ code: 500 });
    expect(asked()).toEqual([`POST ${NODES}`]);
    await register();
  });
});

describe('the CSINode', () => {
  const ownedBy = (uid: string) => ({
    metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'node-1', uid }] },
  });

  test('is made once, for the Node with its UID', async () => {
    const { register, ensureCsiNode, ask, asked } = beforeJoining();
    const { uid } = await register();
    await ensureCsiNode(uid);
    expect(await ask('GET', CSI_NODE)).toMatchObject(ownedBy(uid));
    asked();
    await ensureCsiNode(uid);
    expect(asked()).toEqual([`GET ${CSI_NODE}`]);
  });

  test('of a Node that was there before is made anew', async () => {
    const { register, ensureCsiNode, ask } = beforeJoining();
    await ensureCsiNode((await register()).uid);
    const { metadata: first } = await ask('GET', CSI_NODE);
    await ask('DELETE', NODE);
    const { uid } = await register();
    await ensureCsiNode(uid);
    const second = await ask('GET', CSI_NODE);
    expect(second).toMatchObject(ownedBy(uid));
    expect(second.metadata).not.toMatchObject({ uid: Object(first).uid });
  });

  test('that belongs to nobody stays', async () => {
    const { register, ensureCsiNode, ask, asked } = beforeJoining();
    const { uid } = await register();
    await ask('POST', CSI_NODES, { metadata: { name: 'node-1' }, spec: { drivers: [] } });
    asked();
    await ensureCsiNode(uid);
    expect(asked()).toEqual([`GET ${CSI_NODE}`]);
  });

  test('is not made while the server cannot say whether it is there', async () => {
    const { register, ensureCsiNode, troubled, asked } = beforeJoining();
    const { uid } = await register();
    asked();
    troubled('get', { kind: 'refused', code: 500 });
    await expect(ensureCsiNode(uid)).rejects.toMatchObject({ code: 500 });
    expect(asked()).toEqual([`GET ${CSI_NODE}`]);
  });
});

describe('the lease', () => {
  test('is made for the Node, and then renewed without asking how it is', async () => {
    const { register, renew, ask, asked, clock } = beforeJoining();
    const { uid } = await register();
    asked();
    await renew();
    expect(await ask('GET', LEASE)).toMatchObject({
      metadata: { ownerReferences: [{ kind: 'Node', name: 'node-1', uid }] },
      spec: { holderIdentity: 'node-1', leaseDurationSeconds: 40, renewTime: '2026-01-01T00:00:00.000000Z' },
    });
    expect(asked()).toEqual([`GET ${LEASE}`, `POST ${LEASE.slice(0, -'/node-1'.length)}`]);
    await clock.advance(10_250);
    await renew();
    expect(asked()).toEqual([`PUT ${LEASE}`]);
    expect(await ask('GET', LEASE)).toMatchObject({ spec: { renewTime: '2026-01-01T00:00:10.250000Z' } });
  });

  test('of a run before is renewed, with the time that it lasts now', async () => {
    const before = beforeJoining();
    await before.renew();
    const after = new ClusterNode({
      ...{ ...before, nodeName: 'node-1', leaseSeconds: 20 },
      describe: () => {
        throw new Error('nobody has asked for that');
      },
    });
    await before.clock.advance(5_000);
    await after.ports.renewLease(null, { signal: new AbortController().signal });
    expect(await before.ask('GET', LEASE)).toMatchObject({
      spec: { holderIdentity: 'node-1', leaseDurationSeconds: 20, renewTime: '2026-01-01T00:00:05.000000Z' },
    });
  });

  test('gets its owner once the node knows the UID of its Node', async () => {
    const { register, renew, ask } = beforeJoining();
    await renew();
    expect(await ask('GET', LEASE)).not.toHaveProperty('metadata.ownerReferences');
    const { uid } = await register();
    await renew();
    expect(await ask('GET', LEASE)).toMatchObject({ metadata: { ownerReferences: [{ uid }] } });
  });

  test('that somebody has deleted is made anew by the next try, if not by this one', async () => {
    const { renew, ask } = beforeJoining();
    await renew();
    await ask('DELETE', LEASE);
    await renew().catch(renew);
    expect(await ask('GET', LEASE)).toMatchObject({ spec: { holderIdentity: 'node-1' } });
  });

  test('that somebody else has written is read again by the next try', async () => {
    const { renew, ask, asked } = beforeJoining();
    await renew();
    await ask('PATCH', LEASE, { metadata: { labels: { a: 'b' } } }, 'application/merge-patch+json');
    await expect(renew()).rejects.toMatchObject({ code: 409 });
    asked();
    await renew();
    expect(asked()).toEqual([`GET ${LEASE}`, `PUT ${LEASE}`]);
    expect(await ask('GET', LEASE)).toMatchObject({ metadata: { labels: { a: 'b' } } });
  });

  test('goes its own way to the server', async () => {
    const other = cluster(new SimulatedClock());
    const { renew, asked } = beforeJoining({ leaseClient: other.leaseClient });
    await renew();
    expect(asked()).toEqual([]);
    expect(other.transport.requests.map(({ method }) => method)).toEqual(['GET', 'POST']);
  });
});

describe('the status of the Node', () => {
  test('is compared with the server’s once, and where it is the same is not written', async () => {
    const { register, putStatus, asked } = beforeJoining();
    await register();
    asked();
    expect(await putStatus()).toBe(false);
    expect(asked()).toEqual([`GET ${NODE}`]);
  });

  test('is not even asked about until it changes, or five minutes are over', async () => {
    const { register, putStatus, asked, clock, ask } = beforeJoining();
    await register();
    await putStatus();
    asked();
    await clock.advance(5 * MINUTE - 1);
    expect(await putStatus()).toBe(false);
    expect(asked()).toEqual([]);
    await clock.advance(1);
    expect(await putStatus()).toBe(true);
    expect(asked()).toEqual([`GET ${NODE}`, `PATCH ${NODE}/status`]);
    const lastHeartbeatTime = '2026-01-01T00:05:00Z';
    expect(await ask('GET', NODE)).toMatchObject({ status: { conditions: [{ type: 'Ready', lastHeartbeatTime }] } });
    expect(await putStatus()).toBe(false);
  });

  test('is written at once when it changes, and no more of it than that', async () => {
    const { register, putStatus, changes, transport, ask } = beforeJoining();
    await register();
    await putStatus();
    changes.of = { addresses: ['192.0.2.2', '2001:db8::2'] };
    expect(await putStatus()).toBe(true);
    const addresses = [
      { type: 'InternalIP', address: '192.0.2.2' },
      { type: 'InternalIP', address: '2001:db8::2' },
      { type: 'Hostname', address: 'node-1' },
    ];
    expect(JSON.parse(String(transport.requests.at(-1)?.body))).toEqual({
      status: { addresses: [...addresses, { $patch: 'replace' }] },
    });
    expect(await ask('GET', NODE)).toMatchObject({ status: { addresses } });
  });

  test('that the server did not take is written the next time, although it has not changed since', async () => {
    const { register, putStatus, changes, troubled, ask, clock } = beforeJoining();
    await register();
    await putStatus();
    changes.of = { drainsSince: clock.now() };
    troubled('patch', { kind: 'refused', code: 500 });
    await expect(putStatus()).rejects.toMatchObject({ code: 500 });
    expect(await putStatus()).toBe(true);
    expect(await ask('GET', NODE)).toMatchObject({ status: { conditions: [{ type: 'Ready', status: 'False' }] } });
  });

  test('of a Node without one is written whole', async () => {
    const { register, putStatus, ask } = beforeJoining({ registers: false });
    await ask('POST', NODES, { metadata: { name: 'node-1' } });
    await register();
    expect(await putStatus()).toBe(true);
    expect(await ask('GET', NODE)).toMatchObject({
      status: {
        capacity: { cpu: '2' },
        nodeInfo: { osImage: 'Debian' },
        conditions: [{ type: 'Ready', status: 'True' }],
      },
    });
  });
});

test('without a cluster there is nobody to ask', async () => {
  const options = { signal: new AbortController().signal };
  const { registerNode, ensureCsiNode, putNodeStatus, renewLease } = noCluster;
  const calls: Record<ClusterPort, Promise<unknown>> = {
    registerNode: registerNode(null, options),
    ensureCsiNode: ensureCsiNode({ uid: 'u' }, options),
    putNodeStatus: putNodeStatus(null, options),
    renewLease: renewLease(null, options),
  };
  for (const call of Object.values(calls)) await expect(call).rejects.toThrow('the node belongs to no cluster');
});
