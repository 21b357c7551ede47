import { describe, expect, test } from '@jest/globals';
import type { KubeObject } from '../../../../kubeclient/reflector.ts';
import { healthy } from '../../../kubernetes/nodes.ts';
import { joiningNode, NODE, NODES } from '../support/joiningNode.ts';

const MINUTE = 60_000;
const MERGE = 'application/merge-patch+json';
const PATCH = `PATCH ${NODE}/status`;

/** Returns a registered node that has reported its status and watches its Node. */
async function reportedNode() {
  const node = joiningNode();
  await node.register();
  await node.hear();
  await node.put();
  node.asked();
  const patched = () => node.transport.requests.filter(({ method }) => method === 'PATCH');
  return { ...node, lastPatch: () => JSON.parse(String(patched().at(-1)?.body)) };
}

const reasonsOf = ({ events }: { readonly events: readonly { readonly reason: string }[] }) =>
  events.map(({ reason }) => reason);

describe('the status of a Node', () => {
  test('is compared with the watched Node, without a request', async () => {
    const { register, hear, put, asked } = joiningNode();
    await register();
    await hear();
    expect(await put()).toEqual({ isWritten: false, events: [] });
    expect(asked()).toEqual([]);
  });

  test('is requested as long as the Node is not watched', async () => {
    const { register, putStatus, asked } = joiningNode();
    await register();
    asked();
    expect(await putStatus()).toBe(false);
    expect(asked()).toEqual([`GET ${NODE}`]);
  });

  test('bypasses the rate limit for other requests of the node', async () => {
    const { register, client, putStatus, asked } = joiningNode({}, { qps: 0.001, burst: 1 });
    await register();
    void client.get(NODE, { type: { apiVersion: 'v1', kind: 'Node' }, signal: new AbortController().signal });
    asked();
    expect(await putStatus()).toBe(false);
    expect(asked()).toEqual([`GET ${NODE}`]);
  });

  test('C34: preserves the addresses that the cloud controller has set, and reports the provided node IP', async () => {
    const cloud = { providedIps: ['192.0.2.1'], reportsAddress: true };
    const { register, hear, putStatus, changes, ask } = joiningNode({ cloud });
    changes.of = { cloud };
    await register();
    await hear();
    const addresses = [{ type: 'ExternalIP', address: '198.51.100.7' }];
    const annotations = { 'alpha.kubernetes.io/provided-node-ip': '192.0.2.1' };
    expect(await ask('GET', NODE)).toMatchObject({
      metadata: { annotations },
      status: { addresses: [{ type: 'InternalIP', address: '192.0.2.1' }, { type: 'Hostname' }] },
    });
    await ask('PATCH', `${NODE}/status`, { status: { addresses } }, MERGE);
    await ask('PATCH', NODE, { metadata: { annotations: { 'alpha.kubernetes.io/provided-node-ip': null } } }, MERGE);
    await hear();
    expect(await putStatus()).toBe(true);
    expect(await ask('GET', NODE)).toMatchObject({ metadata: { annotations }, status: { addresses } });
  });

  test('is written as soon as it changes, and only the changed fields', async () => {
    const { putStatus, changes, asked, lastPatch, ask } = await reportedNode();
    changes.of = { addresses: ['192.0.2.2', '2001:db8::2'] };
    expect(await putStatus()).toBe(true);
    const addresses = [
      { type: 'InternalIP', address: '192.0.2.2' },
      { type: 'InternalIP', address: '2001:db8::2' },
      { type: 'Hostname', address: 'node-1' },
    ];
    expect(lastPatch()).toEqual({ status: { addresses: [...addresses, { $patch: 'replace' }] } });
    expect(asked()).toEqual([PATCH]);
    expect(await ask('GET', NODE)).toMatchObject({ status: { addresses } });
    expect(await putStatus()).toBe(false);
  });

  test('is compared with the last response of the server as long as that is newer than the watched Node', async () => {
    const ownNode: { current: KubeObject } = { current: { metadata: { uid: '' } } };
    const { register, put, changes, ask, asked } = joiningNode({ ownNode });
    await register();
    // The response is an object of the API.
    ownNode.current = (await ask('GET', NODE)) as KubeObject;
    await put();
    asked();
    changes.of = { addresses: ['192.0.2.2'] };
    for (let checks = 0; checks < 3; checks += 1) await put();
    expect(asked()).toEqual([PATCH]);
  });

  test('is requested only once if the server is unreachable', async () => {
    const { register, put, transport, asked } = joiningNode();
    await register();
    asked();
    transport.isAway = true;
    await expect(put()).rejects.toThrow('ECONNREFUSED');
    expect(asked()).toEqual([`GET ${NODE}`]);
  });

  test('C34: is rewritten every five minutes without a change, and the first time after a change with jitter', async () => {
    const { putStatus, chance, changes, clock, asked, lastPatch } = await reportedNode();
    chance.of = 0;
    changes.of = { addresses: ['192.0.2.2'] };
    await putStatus();
    asked();
    await clock.advance(2.5 * MINUTE - 1);
    expect(await putStatus()).toBe(false);
    await clock.advance(1);
    expect(await putStatus()).toBe(true);
    expect(asked()).toEqual([PATCH]);
    await clock.advance(5 * MINUTE - 1);
    expect(await putStatus()).toBe(false);
    await clock.advance(1);
    expect(await putStatus()).toBe(true);
    const types = ['MemoryPressure', 'DiskPressure', 'PIDPressure', 'Ready'];
    expect(lastPatch()).toEqual({
      status: {
        '$setElementOrder/conditions': types.map((type) => ({ type })),
        conditions: types.map((type) => ({ type, lastHeartbeatTime: '2026-01-01T00:07:30Z' })),
      },
    });
  });

  test('is due by elapsed time, whatever the clock is set to', async () => {
    const { putStatus, clock } = await reportedNode();
    await clock.advance(7.5 * MINUTE);
    clock.set(-60 * MINUTE);
    expect(await putStatus()).toBe(true);
    clock.set(60 * MINUTE);
    expect(await putStatus()).toBe(false);
  });

  test('C34: is corrected after another client has changed it, together with the labels that the node owns', async () => {
    const { put, ask, asked, lastPatch, clock } = await reportedNode();
    await ask('PATCH', NODE, { metadata: { labels: { 'kubernetes.io/os': 'else', rack: '7' } } }, MERGE);
    const conditions = [{ type: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown', message: 'silent' }];
    const type = 'application/strategic-merge-patch+json';
    await ask('PATCH', `${NODE}/status`, { status: { conditions } }, type);
    await clock.advance(1_000);
    const { isWritten, events } = await put();
    expect([isWritten, reasonsOf({ events })]).toEqual([true, ['NodeReady']]);
    expect(lastPatch()).toMatchObject({
      metadata: { labels: { 'kubernetes.io/os': 'linux' } },
      status: { conditions: expect.arrayContaining([expect.objectContaining({ type: 'Ready', status: 'True' })]) },
    });
    expect(asked()).toEqual([PATCH]);
    expect(await ask('GET', NODE)).toMatchObject({ metadata: { labels: { 'kubernetes.io/os': 'linux', rack: '7' } } });
  });

  test('of a deleted Node is attempted with four requests, and no Node is created', async () => {
    const { put, ask, asked, clock } = await reportedNode();
    await ask('DELETE', NODE);
    await clock.advance(0);
    asked();
    await expect(put()).rejects.toMatchObject({ code: 404 });
    expect(asked()).toEqual(Array(4).fill(`GET ${NODE}`));
    await expect(ask('GET', NODE)).rejects.toThrow('404');
  });

  test('is attempted five times if the server rejects it, from the second attempt on with a fresh read', async () => {
    const { put, putStatus, changes, troubled, asked } = await reportedNode();
    changes.of = { health: healthy({ isDraining: true }) };
    troubled('patch', { kind: 'refused', code: 500 }, 'nodes', 5);
    await expect(put()).rejects.toMatchObject({ code: 500 });
    expect(asked()).toEqual([PATCH, ...Array(4).fill([`GET ${NODE}`, PATCH])].flat());
    troubled('patch', { kind: 'refused', code: 500 }, 'nodes', 1);
    expect(await putStatus()).toBe(true);
    expect(asked()).toEqual([PATCH, `GET ${NODE}`, PATCH]);
  });

  test('C34: is not rewritten again and again if the server drops some of its fields', async () => {
    const { register, hear, putStatus, changes, clock, forgetful, asked } = joiningNode();
    forgetful.of = 'declaredFeatures';
    await register();
    await hear();
    expect(await putStatus()).toBe(true);
    asked();
    for (let checks = 0; checks < 3; checks += 1) {
      await clock.advance(10_000);
      expect(await putStatus()).toBe(false);
    }
    changes.of = { addresses: ['192.0.2.2'] };
    expect(await putStatus()).toBe(true);
    expect(asked()).toEqual([PATCH]);
  });

  test('of a Node that another client has created is written completely', async () => {
    const { register, putStatus, ask } = joiningNode({ createsNode: false });
    await ask('POST', NODES, { metadata: { name: 'node-1' } });
    await register();
    expect(await putStatus()).toBe(true);
    expect(await ask('GET', NODE)).toMatchObject({
      status: {
        capacity: { cpu: '2' },
        nodeInfo: { osImage: 'Debian' },
        images: [{ names: ['box:1'], sizeBytes: 1 }],
        conditions: [{ type: 'MemoryPressure' }, {}, {}, { type: 'Ready', status: 'True' }],
      },
    });
  });
});

describe('node events', () => {
  test('report once that the node is no longer ready, and once that it is ready again', async () => {
    const { put, changes } = await reportedNode();
    changes.of = { health: healthy({ isDraining: true }) };
    expect(await put()).toEqual({
      isWritten: true,
      events: [{ reason: 'NodeNotReady', message: 'Node node-1 status is now: NodeNotReady' }],
    });
    expect(reasonsOf(await put())).toEqual([]);
    changes.of = {};
    expect(reasonsOf(await put())).toEqual(['NodeReady']);
  });

  test('report when other clients make the node unschedulable, and schedulable again', async () => {
    const { put, ask, clock } = await reportedNode();
    const cordon = async (unschedulable: boolean) => {
      await ask('PATCH', NODE, { spec: { unschedulable } }, MERGE);
      await clock.advance(0);
      return put();
    };
    expect(await cordon(true)).toEqual({
      isWritten: false,
      events: [{ reason: 'NodeNotSchedulable', message: 'Node node-1 status is now: NodeNotSchedulable' }],
    });
    expect(reasonsOf(await put())).toEqual([]);
    expect(reasonsOf(await cordon(false))).toEqual(['NodeSchedulable']);
  });

  test('report once that the host was rebooted', async () => {
    const { put, changes, host } = await reportedNode();
    changes.of = { host: { ...host, bootID: 'another' } };
    expect((await put()).events).toEqual([
      {
        eventType: 'Warning',
        reason: 'Rebooted',
        message: 'Node node-1 has been rebooted, boot id: another',
      },
    ]);
    changes.of = {};
    expect(reasonsOf(await put())).toEqual([]);
  });
});
