/** The content of cluster objects in pods: what reaches the runtime, and what does not. */
import { expect, test } from '@jest/globals';
import type { RequestOf } from '../../cri/simulated/faults/callNames.ts';
import type { Container } from '../../kubernetes/api/schema/container.ts';
import type { PodSpec } from '../../kubernetes/api/schema/pod.ts';
import { simulatedNode } from '../fakes/node.ts';
import { FakeObjects } from '../fakes/objects.ts';
import { containerWith, podWith } from '../fakes/pods.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');

function cluster() {
  const objects = new FakeObjects();
  objects.put('ConfigMap', 'settings', { data: { COLOR: 'blue', SIZE: 'large' }, binaryData: { LOGO: base64('x') } });
  objects.put('Secret', 'key', { data: { COLOR: base64('secret'), PASSWORD: base64('hunter2') } });
  return objects;
}

/** Starts a node with a pod of one container. */
async function nodeWith(objects: FakeObjects, container: Partial<Container>, more: Partial<PodSpec> = {}) {
  const pod = podWith('web', { containers: [containerWith('main', container)], ...more });
  const node = await simulatedNode({ pods: [pod], parts: { objects } });
  await node.advance('2s');
  const waiting = () => node.pod('web').containerStatuses?.[0]?.state?.waiting;
  return { node, waiting };
}

type Node = Awaited<ReturnType<typeof nodeWith>>['node'];

function variablesOf(node: Node): Record<string, string> {
  // Calls of one kind have requests of that kind, but their common type does not say so.
  const [made] = node.calls('createContainer').map(({ request }) => request as RequestOf<'createContainer'>);
  return Object.fromEntries((made?.config?.envs ?? []).map(({ key, value }) => [key, `${value}`]));
}

test('C37: env overrides envFrom, a later source overrides an earlier one, and both can be referenced as $(VAR)', async () => {
  const { node } = await nodeWith(cluster(), {
    envFrom: [
      { configMapRef: { name: 'settings' } },
      { secretRef: { name: 'key' } },
      { prefix: 'P_', configMapRef: { name: 'settings' } },
    ],
    env: [
      { name: 'SIZE', value: 'of $(COLOR)' },
      { name: 'OWN', valueFrom: { secretKeyRef: { name: 'key', key: 'PASSWORD' } } },
      { name: 'SHOWN', value: '$(OWN)-$(P_COLOR)' },
      { name: 'GONE', valueFrom: { configMapKeyRef: { name: 'settings', key: 'none', optional: true } } },
    ],
    command: ['login', '$(PASSWORD)'],
  });
  expect(variablesOf(node)).toEqual({
    COLOR: 'secret',
    PASSWORD: 'hunter2',
    P_COLOR: 'blue',
    P_SIZE: 'large',
    SIZE: 'of secret',
    OWN: 'hunter2',
    SHOWN: 'hunter2-blue',
  });
});

test('C37: a container with a missing Secret waits with CreateContainerConfigError, and starts once it exists', async () => {
  const objects = cluster();
  objects.remove('Secret', 'key');
  const { node, waiting } = await nodeWith(objects, { envFrom: [{ secretRef: { name: 'key' } }] });
  expect(waiting()).toEqual({ reason: 'CreateContainerConfigError', message: 'secret "key" not found' });
  expect(node.calls('createContainer')).toEqual([]);
  objects.put('Secret', 'key', { data: { A: base64('1') } });
  await node.advance('10s');
  expect([waiting(), variablesOf(node)]).toEqual([undefined, { A: '1' }]);
});

test('C37: a hanging Secret lookup delays one container for a second, and occupies no start slot', async () => {
  const objects = cluster();
  objects.trouble.set('Secret/key', 'hangs');
  const pod = podWith('web', { containers: [containerWith('main', { envFrom: [{ secretRef: { name: 'key' } }] })] });
  const node = await simulatedNode({ pods: [pod], parts: { objects }, config: { startSlots: 1 } });
  const isReading = () => `${JSON.stringify(node.agent.explain('web'))}`.includes('the ConfigMaps and Secrets of its');
  const until = async (isSo: () => boolean) => {
    for (let step = 0; step < 100 && !isSo(); step += 1) await node.advance('10ms');
  };
  await until(isReading);
  node.apply(podWith('other'));
  await until(() => node.has('other') && node.pod('other').phase === 'Running');
  expect(node.pod('other').phase).toBe('Running');
  expect(isReading()).toBe(true);
  await node.advance('1s');
  expect(node.pod('web').containerStatuses?.[0]?.state?.waiting).toEqual({
    reason: 'CreateContainerConfigError',
    message: 'failed to sync secret cache: timed out waiting for the condition',
  });
});

test('C37: a volume with a missing ConfigMap delays its pod, and is mounted once it exists', async () => {
  const objects = cluster();
  objects.remove('ConfigMap', 'settings');
  const volumes = [{ name: 'v', configMap: { name: 'settings' } }];
  const { node, waiting } = await nodeWith(objects, { volumeMounts: [{ name: 'v', mountPath: '/v' }] }, { volumes });
  expect(waiting()).toEqual({ reason: 'ContainerCreating' });
  objects.put('ConfigMap', 'settings', { data: { a: '1' } });
  await node.advance('10s');
  expect(node.pod('web').phase).toBe('Running');
});
