/** Tests the pods that the node's server returns. */
import { expect, test } from '@jest/globals';
import { startSimulatedNode } from '../../../actors/simulated/startSimulatedNode.ts';
import { inProcessCri } from '../../../cri/simulated/inProcessCri.ts';
import { podsRoute, runningPodsRoute } from '../../../kubelet-api/listener/pods.ts';
import { eventually } from '../../e2e/support/eventually.ts';
import { atEnd, listening } from './support/listening.ts';

const web = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', annotations: { note: '<b>&' } },
  spec: { containers: [{ name: 'main', image: 'example.com/web:1' }] },
};

test('C39: an empty pod list is null, and running pods are listed from the node or from the runtime', async () => {
  const node = await startSimulatedNode();
  atEnd(() => node.stop());
  const cri = inProcessCri(node.runtime);
  const routes = [podsRoute({ pods: node.agent.pods }), runningPodsRoute({ cri, timeoutMs: 1_000 })];
  const { ask } = await listening({ routes });
  const none = '{"kind":"PodList","apiVersion":"v1","metadata":{},"items":null}\n';
  expect(await ask('/pods')).toMatchObject({ code: 200, body: none, headers: { 'content-type': 'application/json' } });
  expect((await ask('/runningpods/')).body).toBe(none);
  node.apply([web]);
  await eventually('it runs', () => node.agent.pods().some(({ status }) => status?.phase === 'Running') || undefined);
  const { body } = await ask('/pods');
  expect(body).toContain('"note":"\\u003cb\\u003e\\u0026"');
  const [pod] = JSON.parse(body).items;
  expect(pod).toMatchObject({
    metadata: { name: 'web-node-1', namespace: 'default', annotations: { 'kubernetes.io/config.source': 'file' } },
    status: { phase: 'Running' },
  });
  const { uid } = pod.metadata;
  expect(JSON.parse((await ask('/runningpods/')).body).items).toEqual([
    {
      metadata: { name: 'web-node-1', namespace: 'default', uid },
      spec: { containers: [{ name: 'main', image: expect.stringContaining('sha256:'), resources: {} }] },
      status: {},
    },
  ]);
});

test('a hanging runtime results in a 500 after the timeout', async () => {
  const stuck = (_: unknown, { signal }: { readonly signal: AbortSignal }) =>
    new Promise<never>((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('the runtime does not answer')));
    });
  const cri = { listPodSandbox: stuck, listContainers: stuck };
  const { ask } = await listening({ routes: [runningPodsRoute({ cri, timeoutMs: 50 })] });
  expect(await ask('/runningpods/')).toMatchObject({ code: 500, body: 'the runtime does not answer\n' });
});
