/**
 * A node of a cluster, with a test API server in memory. It runs the pods of the server, and reports their statuses to
 * it.
 */
import { describe, expect, test } from '@jest/globals';
import { ContainerState } from '../../../../cri/generated/runtime.ts';
import type { Attributes } from '../../../../testing/apiserver/authorization/attributes.ts';
import { joinedNode as joined, boundPod as manifest, PODS } from '../../../fakes/joinedNode.ts';
import { IMAGE } from '../../../fakes/pods.ts';

const once = { image: IMAGE, command: ['sleep', '1'] };

test('C32: a pod that is bound to the node runs, and its status is reported to the API server', async () => {
  const { node, ask } = await joined();
  await ask('POST', PODS, manifest('web'));
  await node.advance('2s');
  expect(node.errors).toEqual([]);
  expect(await ask('GET', `${PODS}/web`)).toMatchObject({
    status: {
      phase: 'Running',
      hostIP: '192.0.2.1',
      qosClass: 'BestEffort',
      containerStatuses: [{ name: 'main', ready: true }],
    },
  });
});

test('C12, C32: a deleted pod is terminated and then removed from the API server', async () => {
  const { node, ask } = await joined();
  await ask('POST', PODS, manifest('web'));
  await node.advance('2s');
  await ask('DELETE', `${PODS}/web`);
  await node.advance('60s');
  await expect(ask('GET', `${PODS}/web`)).rejects.toThrow('404');
  expect(await node.leftovers()).toEqual([]);
});

test('C24, C32: a pod recreated at once with the same name coexists with the terminating one for a while', async () => {
  const { node, ask } = await joined();
  await ask(
    'POST',
    PODS,
    manifest('web', {
      terminationGracePeriodSeconds: 20,
      containers: [{ name: 'main', image: IMAGE, command: ['sh', '-c', "trap '' TERM; sleep 3600"] }],
    }),
  );
  await node.advance('2s');
  await ask('DELETE', `${PODS}/web`, { gracePeriodSeconds: 0 });
  await ask('POST', PODS, manifest('web'));
  await node.advance('2s');
  expect(await ask('GET', `${PODS}/web`)).toMatchObject({ status: { phase: 'Running' } });
  expect(node.calls('runPodSandbox').length).toBe(2);
  await node.advance('60s');
  expect(await ask('GET', `${PODS}/web`)).toMatchObject({ status: { phase: 'Running' } });
  expect(node.errors).toEqual([]);
});

test('C33: the node is registered, becomes ready once its CSINode exists, and renews its lease', async () => {
  const { node, ask } = await joined();
  await node.advance('11s');
  const registered = await ask('GET', '/api/v1/nodes/node-1');
  expect(registered).toMatchObject({
    metadata: { annotations: { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' } },
    status: { conditions: expect.arrayContaining([expect.objectContaining({ type: 'Ready', status: 'True' })]) },
  });
  expect(await ask('GET', '/apis/storage.k8s.io/v1/csinodes/node-1')).toMatchObject({ spec: { drivers: null } });
  const lease = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/node-1';
  const { spec } = await ask('GET', lease);
  expect(spec).toMatchObject({ holderIdentity: 'node-1', leaseDurationSeconds: 40 });
  await node.advance('20s');
  expect((await ask('GET', lease)).spec).not.toEqual(spec);
  expect(node.errors).toEqual([]);
});

test('C2, C32: a pod that is terminal in the API server never runs, even if the node and the runtime have forgotten it', async () => {
  const { node, ask } = await joined();
  node.killAgent();
  await ask('POST', PODS, manifest('done'));
  const status = { phase: 'Succeeded', message: 'long ago', startTime: '2025-12-31T00:00:00Z' };
  await ask('PATCH', `${PODS}/done/status`, { status }, 'application/merge-patch+json');
  await node.restartAgent();
  await node.advance('30s');
  expect(node.calls('runPodSandbox')).toEqual([]);
  expect(await ask('GET', `${PODS}/done`)).toMatchObject({ status });
  await ask('DELETE', `${PODS}/done`);
  await node.advance('30s');
  await expect(ask('GET', `${PODS}/done`)).rejects.toThrow('404');
  expect(node.errors).toEqual([]);
});

test('C14, C32: the node rewrites a pod status that another client has overwritten, with a single patch', async () => {
  const { node, ask, transport } = await joined();
  await ask('POST', PODS, manifest('web'));
  await node.advance('5s');
  const unready = { status: { conditions: [{ type: 'Ready', status: 'False' }] } };
  transport.requests.splice(0);
  await ask('PATCH', `${PODS}/web/status`, unready, 'application/strategic-merge-patch+json');
  await node.advance('10s');
  const isReady = expect.arrayContaining([expect.objectContaining({ type: 'Ready', status: 'True' })]);
  expect(await ask('GET', `${PODS}/web`)).toMatchObject({ status: { conditions: isReady } });
  const patches = transport.requests.filter(({ method, path }) => method === 'PATCH' && path.endsWith('web/status'));
  expect(patches).toHaveLength(1);
});

test('C2, C32: a pod that another client marks as Failed is terminated and preserves that status', async () => {
  const { node, ask } = await joined();
  await ask('POST', PODS, manifest('web'));
  await node.advance('5s');
  const failedStatus = { phase: 'Failed', reason: 'NodeLost', message: 'nobody has heard of it' };
  await ask('PATCH', `${PODS}/web/status`, { status: failedStatus }, 'application/merge-patch+json');
  await node.advance('60s');
  const { containers } = node.runtime.contents();
  expect(containers.map(({ state }) => state)).toEqual([ContainerState.CONTAINER_EXITED]);
  expect(await ask('GET', `${PODS}/web`)).toMatchObject({
    status: {
      ...failedStatus,
      conditions: expect.arrayContaining([expect.objectContaining({ type: 'Ready', status: 'False' })]),
      containerStatuses: [{ state: { terminated: { exitCode: 143 } } }],
    },
  });
  expect(node.errors).toEqual([]);
  await ask('DELETE', `${PODS}/web`);
  await node.advance('30s');
  expect(await node.leftovers()).toEqual([]);
});

test('C2: a completed pod is not affected when the API server reports back its terminal status', async () => {
  const { node, ask } = await joined();
  await ask('POST', PODS, manifest('job', { restartPolicy: 'Never', containers: [{ ...once, name: 'main' }] }));
  await node.advance('30s');
  expect(await ask('GET', `${PODS}/job`)).toMatchObject({ status: { phase: 'Succeeded' } });
  expect(node.view('job').state).toBe('finished');
  expect(node.calls('stopPodSandbox')).toHaveLength(1);
});

test('C15, C32: a rejected pod loses its PodScheduled condition, as with a kubelet', async () => {
  const { node, ask } = await joined();
  await ask('POST', PODS, {
    metadata: { name: 'big' },
    spec: { containers: [{ name: 'main', image: IMAGE, resources: { requests: { cpu: '100' } } }] },
  });
  await ask('POST', `${PODS}/big/binding`, { metadata: { name: 'big' }, target: { kind: 'Node', name: 'node-1' } });
  expect(await ask('GET', `${PODS}/big`)).toMatchObject({ status: { conditions: [{ type: 'PodScheduled' }] } });
  await node.advance('5s');
  const { status } = await ask('GET', `${PODS}/big`);
  expect(status).toMatchObject({ phase: 'Failed', reason: 'OutOfcpu' });
  expect(status).not.toHaveProperty('conditions');
});

test('C32: a malformed status blocks neither its pod nor others', async () => {
  const { node, api, ask } = await joined();
  const status = { containerStatuses: [null, 5], podIPs: [true], startTime: 'x', conditions: [[]] };
  node.killAgent();
  for (const name of ['web', 'db']) await ask('POST', PODS, manifest(name));
  const [, pod = {}] = api.registry.store.list('/pods').find(([key]) => key.endsWith('web')) ?? [];
  // No request to the API could store such a status.
  api.registry.store.put('/pods', { ...pod, status });
  await node.restartAgent();
  await node.advance('10s');
  // The status updates of the malformed pod fail, because this server cannot process them either.
  expect(node.errors.filter((error) => !error.startsWith('putStatus'))).toEqual([]);
  expect(node.calls('startContainer').length).toBe(2);
  expect(await ask('GET', `${PODS}/db`)).toMatchObject({ status: { phase: 'Running' } });
});

const isStatusOfNode = (asked: Attributes, user: string) =>
  'subresource' in asked && asked.resource === 'pods' && asked.subresource === 'status' && user !== 'admin';

const isReady = { conditions: expect.arrayContaining([expect.objectContaining({ type: 'Ready', status: 'True' })]) };

test('C14: a status that is overwritten while a status update is in flight is sent again', async () => {
  const { node, ask, api } = await joined();
  await ask('POST', PODS, manifest('web'));
  await node.advance('15s');
  const write = (status: object) =>
    ask('PATCH', `${PODS}/web/status`, { status }, 'application/strategic-merge-patch+json');
  // This change of an irrelevant condition makes the node send its status again. That request is in flight for half a
  // second.
  api.faults.add({ fault: { kind: 'latency', ms: 500 }, matches: isStatusOfNode, times: 1 });
  await write({ conditions: [{ type: 'Initialized', status: 'False' }] });
  await node.advance('1200ms');
  await write({ conditions: [{ type: 'Ready', status: 'False' }] });
  await node.advance('15s');
  expect(await ask('GET', `${PODS}/web`)).toMatchObject({ status: isReady });
});

test('C14: a status update is retried if the server once fails to find an existing pod', async () => {
  const { node, ask, api } = await joined();
  api.faults.add({ fault: { kind: 'refused', code: 404 }, matches: isStatusOfNode, times: 1 });
  await ask('POST', PODS, manifest('web'));
  await node.advance('15s');
  expect(await ask('GET', `${PODS}/web`)).toMatchObject({ status: { phase: 'Running', ...isReady } });
});

describe('status updates of many pods created at once', () => {
  const names = Array.from({ length: 12 }, (_, index) => `web-${index}`);
  const inLine = async (delayMs: number) => {
    const story = await joined({ config: { startSlots: 1 } });
    story.node.runtime.faults.add({ call: 'runPodSandbox', times: Number.POSITIVE_INFINITY, delayMs });
    return story;
  };
  const conditionsOf = async (ask: (method: string, path: string) => Promise<Record<string, unknown>>, name: string) =>
    Object((await ask('GET', `${PODS}/${name}`)).status).conditions;

  test('C14: are sent once per queued pod, when the pod runs', async () => {
    const { node, ask, transport } = await inLine(400);
    for (const name of names) await ask('POST', PODS, manifest(name));
    await node.advance('9s');
    expect(names.map((name) => node.pod(name).phase)).toEqual(names.map(() => 'Running'));
    const patches = (name: string) =>
      transport.requests.filter(({ method, path }) => method === 'PATCH' && path === `${PODS}/${name}/status`).length;
    // The pods that start first may have earlier updates, because the others are created later.
    expect(names.slice(8 + 1).map(patches)).toEqual([1, 1, 1]);
    expect(node.errors).toEqual([]);
  });

  test('C14: are sent for all pods after 10 s, whether they run or not', async () => {
    const { node, ask } = await inLine(30_000);
    for (const name of names) await ask('POST', PODS, manifest(name));
    await node.advance('9s');
    expect(await conditionsOf(ask, 'web-11')).toBeUndefined();
    await node.advance('2s');
    const isNotReady = expect.arrayContaining([expect.objectContaining({ type: 'Ready', status: 'False' })]);
    expect(await conditionsOf(ask, 'web-11')).toEqual(isNotReady);
  });

  test('C14: report within a second that pods are not ready that an earlier agent reported ready', async () => {
    const { node, ask } = await inLine(30_000);
    node.killAgent();
    const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
    for (const name of names) {
      await ask('POST', PODS, manifest(name));
      await ask('PATCH', `${PODS}/${name}/status`, { status }, 'application/merge-patch+json');
    }
    await node.restartAgent();
    await node.advance('2s');
    const isNotReady = expect.arrayContaining([expect.objectContaining({ type: 'Ready', status: 'False' })]);
    for (const name of names) expect(await conditionsOf(ask, name)).toEqual(isNotReady);
  });
});
