/**
 * The controllers of a cluster. They schedule pods, taint nodes, create the default objects of namespaces, and empty
 * deleted namespaces.
 */
import { expect, test } from '@jest/globals';
import { SimulatedClock } from '../../../../actors/simulated/simulatedClock.ts';
import { ApiServer } from '../../../../testing/apiserver/apiServer.ts';
import type { Json, JsonObject } from '../../../../testing/apiserver/json.ts';

const MERGE = 'application/merge-patch+json';
const PODS = '/api/v1/namespaces/default/pods';

/** Returns a server and helpers. Each request of a helper is followed by a run of the controllers. */
async function emptyCluster() {
  const clock = new SimulatedClock();
  const server = await ApiServer.start(clock);
  const ask = async (method: string, path: string, body?: Json, contentType?: string) => {
    const object = await server.request(method, path, body, contentType);
    await clock.advance(0);
    return object;
  };
  const condition = (name: string, type: string, status: string) =>
    ask(
      'PATCH',
      `/api/v1/nodes/${name}/status`,
      { status: { conditions: [{ type, status }] } },
      'application/strategic-merge-patch+json',
    );
  const taints = async (name: string) => {
    const { spec } = await ask('GET', `/api/v1/nodes/${name}`);
    // Safe cast, because the object is a Node.
    return ((spec as { taints?: { key: string; effect: string }[] }).taints ?? []).map(
      ({ key, effect }) => `${key}:${effect}`,
    );
  };
  const addNode = async (name: string) => {
    await ask('POST', '/api/v1/nodes', { metadata: { name } });
    await condition(name, 'Ready', 'True');
  };
  const addPod = (name: string, spec: JsonObject = {}) =>
    ask('POST', PODS, { metadata: { name }, spec: { containers: [{ name: 'main', image: 'app' }], ...spec } });
  const nodeOf = async (pod: string) => {
    const { spec } = await ask('GET', `${PODS}/${pod}`);
    // Safe cast, because the object is a Pod.
    return (spec as { nodeName?: string }).nodeName;
  };
  return { server, clock, ask, condition, taints, addNode, addPod, nodeOf };
}

test('a pod is scheduled once a schedulable node exists', async () => {
  const { addPod, addNode, ask, condition, nodeOf } = await emptyCluster();
  await addPod('early');
  await ask('POST', '/api/v1/nodes', { metadata: { name: 'n1' } });
  expect(await nodeOf('early')).toBeUndefined();
  await condition('n1', 'Ready', 'True');
  expect(await nodeOf('early')).toBe('n1');
  await ask('PATCH', '/api/v1/nodes/n1', { spec: { unschedulable: true } }, MERGE);
  await addPod('late');
  expect(await nodeOf('late')).toBeUndefined();
  await addNode('n2');
  expect([await nodeOf('early'), await nodeOf('late')]).toEqual(['n1', 'n2']);
});

test('pods created while others are being scheduled are not missed', async () => {
  const { addPod, addNode, nodeOf } = await emptyCluster();
  await addNode('n1');
  const names = Array.from({ length: 20 }, (_, index) => `pod-${index}`);
  const added: Promise<unknown>[] = [];
  for (const name of names) {
    added.push(addPod(name));
    // Creates each pod before the previous request is complete.
    await Promise.resolve();
  }
  await Promise.all(added);
  expect(new Set(await Promise.all(names.map(nodeOf)))).toEqual(new Set(['n1']));
});

test('pods with scheduling gates and terminating pods are not scheduled', async () => {
  const { addPod, addNode, ask, nodeOf } = await emptyCluster();
  await addPod('gated', { schedulingGates: [{ name: 'example.org/later' }] });
  await addPod('going');
  await ask('PATCH', `${PODS}/going`, { metadata: { finalizers: ['example.org/held'] } }, MERGE);
  await ask('DELETE', `${PODS}/going`);
  await addNode('n1');
  expect([await nodeOf('gated'), await nodeOf('going')]).toEqual([undefined, undefined]);
});

test('a node is tainted by its conditions and by a cordon, and its other taints remain', async () => {
  const { ask, condition, taints } = await emptyCluster();
  await ask('POST', '/api/v1/nodes', {
    metadata: { name: 'n1' },
    spec: { taints: [{ key: 'own', effect: 'NoExecute' }] },
  });
  expect(await taints('n1')).toEqual(['own:NoExecute', 'node.kubernetes.io/not-ready:NoSchedule']);
  await condition('n1', 'Ready', 'True');
  expect(await taints('n1')).toEqual(['own:NoExecute']);
  await condition('n1', 'MemoryPressure', 'True');
  await ask('PATCH', '/api/v1/nodes/n1', { spec: { unschedulable: true } }, MERGE);
  expect(await taints('n1')).toEqual([
    'own:NoExecute',
    'node.kubernetes.io/memory-pressure:NoSchedule',
    'node.kubernetes.io/unschedulable:NoSchedule',
  ]);
  await condition('n1', 'MemoryPressure', 'False');
  await ask('PATCH', '/api/v1/nodes/n1', { spec: { unschedulable: null } }, MERGE);
  await condition('n1', 'Ready', 'Unknown');
  expect(await taints('n1')).toEqual(['own:NoExecute', 'node.kubernetes.io/unreachable:NoSchedule']);
});

test('every namespace has a service account and the CA certificate of the server', async () => {
  const { ask } = await emptyCluster();
  await ask('POST', '/api/v1/namespaces', { metadata: { name: 'new' } });
  for (const namespace of ['default', 'kube-system', 'new']) {
    const path = `/api/v1/namespaces/${namespace}`;
    expect(await ask('GET', `${path}/serviceaccounts/default`)).toMatchObject({ kind: 'ServiceAccount' });
    const { data } = await ask('GET', `${path}/configmaps/kube-root-ca.crt`);
    expect(data).toEqual({ 'ca.crt': expect.stringMatching(/^-----BEGIN CERTIFICATE-----\n/) });
  }
  await ask('DELETE', '/api/v1/namespaces/default/serviceaccounts/default');
  expect(await ask('GET', '/api/v1/namespaces/default/serviceaccounts/default')).toMatchObject({
    kind: 'ServiceAccount',
  });
});

test('a deleted namespace is removed once all its objects are gone', async () => {
  const { ask } = await emptyCluster();
  await ask('POST', '/api/v1/namespaces', { metadata: { name: 'old' } });
  const held = { metadata: { name: 'held', finalizers: ['example.org/held'] } };
  await ask('POST', '/api/v1/namespaces/old/configmaps', held);
  await ask('DELETE', '/api/v1/namespaces/old');
  expect(await ask('GET', '/api/v1/namespaces/old')).toMatchObject({ status: { phase: 'Terminating' } });
  const { items } = await ask('GET', '/api/v1/namespaces/old/configmaps');
  expect(items).toEqual([expect.objectContaining({ metadata: expect.objectContaining({ name: 'held' }) })]);
  await ask('PATCH', '/api/v1/namespaces/old/configmaps/held', { metadata: { finalizers: [] } }, MERGE);
  await expect(ask('GET', '/api/v1/namespaces/old')).rejects.toThrow('404: namespaces "old" not found');
});

test('controllers are not affected by injected faults, and stop when the server is closed', async () => {
  const { server, addPod, addNode, nodeOf } = await emptyCluster();
  server.faults.add({ fault: { kind: 'refused', code: 500 } });
  await addNode('n1');
  await addPod('one');
  expect(await nodeOf('one')).toBe('n1');
  server.close();
  await addPod('two');
  expect(await nodeOf('two')).toBeUndefined();
});
