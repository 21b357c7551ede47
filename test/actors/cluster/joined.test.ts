/**
 * A node of a cluster from its start, with an API server in memory. The requests are in the order of a recorded
 * kubelet.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { type Cluster, cluster } from '../../fakes/cluster.ts';
import { type SimulatedNode, simulatedNode } from '../../fakes/node.ts';
import { IMAGE } from '../../fakes/pods.ts';

const NODE = '/api/v1/nodes/node-1';
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
const LEASE = `${LEASES}/node-1`;
const CSI_NODES = '/apis/storage.k8s.io/v1/csinodes';
const PODS = '/api/v1/namespaces/default/pods';
const MERGE = 'application/strategic-merge-patch+json';

interface Joining extends Cluster {
  readonly node: SimulatedNode;
  /** Returns the requests of the node since the last call, without its watches. */
  asked(): string[];
  watched(): string[];
  events(): string[];
  /** Returns the UIDs of the Node that were reported to the node. */
  uids(): string[];
  ready(): Promise<Record<string, unknown>>;
}

async function joining(isAway = false): Promise<Joining> {
  const made: { cluster?: Cluster } = {};
  const events: string[] = [];
  const uids = new Set<string>();
  const node = await simulatedNode({
    fromFiles: true,
    parts: { events: ({ reason, involved }) => void (involved.kind === 'Node' && events.push(reason)) },
    clusterOf: (clock) => {
      made.cluster = cluster(clock);
      made.cluster.transport.isAway = isAway;
      return { ...made.cluster, onNodeUid: (uid) => void uids.add(uid) };
    },
  });
  const { cluster: joined } = made;
  if (joined === undefined) throw new Error('the node has no cluster');
  const all = () => joined.transport.requests.splice(0);
  return {
    ...joined,
    node,
    asked: () => all().flatMap(({ method, path, isWatch }) => (isWatch ? [] : [`${method} ${path}`])),
    watched: () => all().flatMap(({ path, isWatch }) => (isWatch ? [path.split('?')[0] ?? ''] : [])),
    events: () => events.splice(0),
    uids: () => [...uids],
    ready: async () => conditionOf(await joined.ask('GET', NODE), 'Ready'),
  };
}

async function joined(): Promise<Joining> {
  const story = await joining();
  await story.node.advance('11s');
  story.asked();
  story.events();
  return story;
}

function conditionOf({ status }: Record<string, unknown>, type: string): Record<string, unknown> {
  const { conditions } = Object(status);
  return conditions.find((each: { readonly type: string }) => each.type === type);
}

describe('a node that joins', () => {
  test('sends no more requests than a kubelet, and reports the same in the same order', async () => {
    const { node, asked, events, ready, ask } = await joining();
    await node.advance('5s');
    const requests = asked();
    const made = requests.filter((each) => !each.startsWith('GET'));
    // Other clients renew the lease and delete the ResourceSlices, so the order of their requests is arbitrary.
    const slices = 'DELETE /apis/resource.k8s.io/v1/resourceslices?fieldSelector=spec.nodeName%3Dnode-1';
    const others = [`POST ${LEASES}`, slices];
    for (const other of others) expect(made.filter((each) => each === other)).toHaveLength(1);
    expect(made.filter((each) => !others.includes(each))).toEqual([
      'POST /api/v1/nodes',
      `POST ${CSI_NODES}`,
      ...requests.filter((each) => each === `PATCH ${NODE}/status`),
    ]);
    expect(requests.filter((each) => each === `PATCH ${NODE}/status`).length).toBeLessThanOrEqual(2);
    expect(events()).toEqual([
      'Starting',
      'NodeHasSufficientMemory',
      'NodeHasNoDiskPressure',
      'NodeHasSufficientPID',
      'NodeReady',
    ]);
    expect(await ready()).toMatchObject({ status: 'True', reason: 'KubeletReady' });
    expect(await ask('GET', NODE)).toMatchObject({
      status: {
        images: [{ names: [IMAGE] }],
        nodeInfo: { containerRuntimeVersion: 'simulated://1.0.0' },
        runtimeHandlers: [{ name: '' }],
      },
    });
  });

  test('C33: immediately creates a Node that is missing only its CSINode if the runtime answers immediately', async () => {
    const { node, transport } = await joining();
    await node.advance('50ms');
    const made = transport.requests.find(({ method, path }) => method === 'POST' && path === '/api/v1/nodes');
    const { status } = JSON.parse(String(made?.body));
    expect(conditionOf({ status }, 'Ready')).toMatchObject({ message: 'CSINode is not yet initialized' });
    expect(status).toMatchObject({
      nodeInfo: { containerRuntimeVersion: 'simulated://1.0.0' },
      runtimeHandlers: [{ name: '' }],
    });
  });

  test('C33: is registered as NotReady after five seconds if the runtime does not answer', async () => {
    const { node, ready, asked } = await joining();
    const away = node.runtime.faults.add({
      call: 'status',
      times: Number.POSITIVE_INFINITY,
      error: { message: 'gone' },
    });
    await node.advance('4s');
    expect(asked()).not.toContain('POST /api/v1/nodes');
    await node.advance('2s');
    const { status, reason, message } = await ready();
    expect([status, reason]).toEqual(['False', 'KubeletNotReady']);
    expect(message).toMatch(/^\[container runtime status check may not have completed yet, /);
    away.release();
    await node.advance('6s');
    expect(await ready()).toMatchObject({ status: 'True' });
  });

  test('C33: is not ready before its CSINode exists, and retries its creation', async () => {
    const { node, api, ready, events } = await joining();
    const heal = api.faults.add({
      fault: { kind: 'refused', code: 500 },
      matches: (request) => 'resource' in request && request.resource === 'csinodes' && request.verb === 'create',
    });
    await node.advance('30s');
    expect(await ready()).toMatchObject({ status: 'False', message: 'CSINode is not yet initialized' });
    expect(events()).not.toContain('NodeReady');
    heal();
    await node.advance('8s');
    expect(await ready()).toMatchObject({ status: 'True' });
    expect(events()).toEqual(['NodeReady']);
  });

  test('runs its static pods while the API server is down, and watches pods and joins once the server is back', async () => {
    const { node, transport, watched, ready } = await joining(true);
    const containers = [{ name: 'main', image: IMAGE }];
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web' }, spec: { containers } };
    await writeFile(join(node.manifestDir, 'web.json'), JSON.stringify(pod));
    await node.advance('40s');
    expect(node.pod('web-node-1').phase).toBe('Running');
    expect(watched()).not.toContain('/api/v1/pods');
    transport.isAway = false;
    await node.advance('61s');
    expect(watched()).toContain('/api/v1/pods');
    expect(await ready()).toMatchObject({ status: 'True' });
  });
});

describe('a node that has joined', () => {
  test('C24: reads its Node before it rejects a pod because of labels alone', async () => {
    const { node, ask, asked } = await joined();
    const spec = { nodeName: 'node-1', nodeSelector: { zone: 'b' }, containers: [{ name: 'main', image: IMAGE }] };
    await ask('POST', '/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } });
    await ask('POST', PODS, { metadata: { name: 'web' }, spec: { ...spec, automountServiceAccountToken: false } });
    await node.advance('2s');
    expect(asked().filter((each) => each === `GET ${NODE}`)).toHaveLength(1);
    expect(await ask('GET', `${PODS}/web`)).toMatchObject({ status: { phase: 'Failed', reason: 'NodeAffinity' } });
  });

  test('C36: notices the UID of a Node that replaces its own', async () => {
    const { node, ask, uids } = await joined();
    expect(uids()).toHaveLength(1);
    await ask('DELETE', NODE);
    const { metadata } = await ask('POST', '/api/v1/nodes', { metadata: { name: 'node-1' } });
    await node.advance('1s');
    expect(uids()).toHaveLength(2);
    expect(uids().at(-1)).toBe(Object(metadata).uid);
  });

  test('sends nothing but lease renewals', async () => {
    const { node, asked } = await joined();
    await node.advance('60s');
    expect(asked()).toEqual(Array(5).fill(`PUT ${LEASE}`));
  });

  test('C34: stays ready through a short outage of the runtime, is NotReady after thirty seconds, and recovers at once', async () => {
    const { node, ready, events, ask } = await joined();
    const before = await ready();
    const away = node.runtime.faults.add({
      call: 'status',
      times: Number.POSITIVE_INFINITY,
      error: { message: 'gone' },
    });
    await node.advance('20s');
    expect(await ready()).toMatchObject({ status: 'True', lastTransitionTime: before.lastTransitionTime });
    expect(await ask('GET', NODE)).toMatchObject({
      status: { nodeInfo: { containerRuntimeVersion: 'simulated://Unknown' } },
    });
    await node.advance('25s');
    expect(await ready()).toMatchObject({ status: 'False', message: 'container runtime is down' });
    expect(events()).toEqual(['NodeNotReady']);
    away.release();
    await node.advance('2s');
    expect(await ready()).toMatchObject({ status: 'True' });
    expect(events()).toEqual(['NodeReady']);
  });

  test('shows no change to other clients across an agent restart', async () => {
    const { node, ready, events, asked } = await joined();
    const before = await ready();
    await node.advance('60s');
    await node.restartAgent();
    asked();
    await node.advance('5s');
    expect(asked().filter((each) => !each.startsWith('GET'))).toEqual([
      `PUT ${LEASE}`,
      'POST /api/v1/nodes',
      `PATCH ${NODE}/status`,
    ]);
    const { lastTransitionTime, status } = await ready();
    expect({ lastTransitionTime, status }).toEqual({ lastTransitionTime: before.lastTransitionTime, status: 'True' });
    expect(events()).toEqual(['Starting', 'NodeHasSufficientMemory', 'NodeHasNoDiskPressure', 'NodeHasSufficientPID']);
  });

  test('has the huge page sizes of its host after an agent restart, and no others', async () => {
    const { node, ask } = await joined();
    const capacity = { cpuMillis: 4_000, memoryBytes: 2 ** 33, pods: 110 };
    const pages = async () => {
      const { capacity: amounts, allocatable } = Object(await ask('GET', NODE)).status;
      return [amounts, allocatable].map((each) =>
        Object.fromEntries(Object.entries(each).filter(([name]) => name.startsWith('hugepages-'))),
      );
    };
    node.reconfigure({ capacity: { ...capacity, extra: { 'hugepages-2Mi': 10 * 2 ** 20, 'hugepages-1Gi': 0 } } });
    await node.restartAgent();
    await node.advance('11s');
    expect(await pages()).toEqual(Array(2).fill({ 'hugepages-1Gi': '0', 'hugepages-2Mi': '10Mi' }));
    const changed = { 'hugepages-3Mi': '9Mi', 'hugepages-2Mi': null };
    await ask('PATCH', `${NODE}/status`, { status: { capacity: changed, allocatable: changed } }, MERGE);
    node.reconfigure({ capacity: { ...capacity, extra: { 'hugepages-2Mi': 10 * 2 ** 20 } } });
    await node.restartAgent();
    await node.advance('11s');
    expect(await pages()).toEqual(Array(2).fill({ 'hugepages-2Mi': '10Mi' }));
  });

  test('C33: does not recreate a deleted Node or its lease before the agent restarts', async () => {
    const { node, ask, asked } = await joined();
    await ask('DELETE', NODE);
    await ask('DELETE', LEASE);
    await node.advance('60s');
    expect(new Set(asked())).toEqual(new Set([`GET ${LEASE}`, `GET ${NODE}`, `PUT ${LEASE}`]));
    await expect(ask('GET', NODE)).rejects.toThrow('404');
    await node.restartAgent();
    await node.advance('5s');
    const { metadata } = await ask('GET', NODE);
    const { uid } = Object(metadata);
    expect(await ask('GET', LEASE)).toMatchObject({ metadata: { ownerReferences: [{ uid }] } });
    expect(await ask('GET', `${CSI_NODES}/node-1`)).toMatchObject({ metadata: { ownerReferences: [{ uid }] } });
  });

  test('is ready again as soon as the API server is back, although the server marked it Unknown meanwhile', async () => {
    const { node, transport, ask, ready, events } = await joined();
    transport.isAway = true;
    transport.cut();
    await node.advance('5m');
    const unknown = { type: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown' };
    await ask('PATCH', `${NODE}/status`, { status: { conditions: [unknown] } }, MERGE);
    transport.isAway = false;
    await node.advance('7s');
    expect(await ready()).toMatchObject({ status: 'True' });
    expect(events()).toEqual(['NodeReady']);
  });

  test('C30: applies taints and labels that others set on its Node, and reports when it becomes unschedulable', async () => {
    const { node, ask, events } = await joined();
    await ask('POST', '/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } });
    const pod = (name: string, more: object = {}) =>
      ask('POST', PODS, {
        metadata: { name },
        spec: {
          nodeName: 'node-1',
          automountServiceAccountToken: false,
          nodeSelector: { rack: '7' },
          ...more,
          containers: [{ name: 'main', image: IMAGE }],
        },
      });
    const reasonOf = async (name: string) => Object((await ask('GET', `${PODS}/${name}`)).status).reason;
    await pod('early');
    await node.advance('2s');
    expect(await reasonOf('early')).toBe('NodeAffinity');
    const taints = [{ key: 'dedicated', effect: 'NoExecute' }];
    await ask('PATCH', NODE, { metadata: { labels: { rack: '7' } }, spec: { taints, unschedulable: true } }, MERGE);
    await node.advance('1s');
    await pod('late');
    await pod('welcome', { tolerations: [{ operator: 'Exists' }] });
    await node.advance('10s');
    expect(await reasonOf('late')).toBe('TaintToleration');
    expect(await ask('GET', `${PODS}/welcome`)).toMatchObject({ status: { phase: 'Running' } });
    expect(events()).toEqual(['NodeNotSchedulable']);
    await ask('PATCH', NODE, { spec: { unschedulable: null } }, MERGE);
    await node.advance('10s');
    expect(events()).toEqual(['NodeSchedulable']);
  });
});
