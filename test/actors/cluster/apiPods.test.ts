/** A node of a cluster, over a test API server in memory: pods come from it, and their statuses go back. */
import { expect, test } from '@jest/globals';
import { joinedNode as joined, boundPod as manifest, PODS } from '../../fakes/joinedNode.ts';
import { IMAGE } from '../../fakes/pods.ts';

test('C32: a pod that is bound to the node runs, and the API hears of it', async () => {
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

test('C12, C32: a pod that is deleted ends, and then goes', async () => {
  const { node, ask } = await joined();
  await ask('POST', PODS, manifest('web'));
  await node.advance('2s');
  await ask('DELETE', `${PODS}/web`);
  await node.advance('60s');
  await expect(ask('GET', `${PODS}/web`)).rejects.toThrow('404');
  expect(await node.leftovers()).toEqual([]);
});

test('C24, C32: a name that is used again at once is two pods for a while, side by side', async () => {
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

test('C33: the node is registered, and ready once its CSINode is there; its lease is renewed', async () => {
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

test('C2, C32: a pod of which the API says that it has ended never runs, whoever has forgotten that it did', async () => {
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
