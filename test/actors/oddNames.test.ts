/**
 * Names are data: pods work like any others even if all their names are those of properties of every JavaScript object.
 */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createReplay } from '../../actors/replay/replay.ts';
import type { RequestOf } from '../../cri/simulated/faults/callNames.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { type SimulatedNode, simulatedNode } from '../fakes/node.ts';
import { containerWith, podWith } from '../fakes/pods.ts';

/** UIDs. The last two are integer-like keys, which an object orders before its others. */
const uids = ['constructor', 'toString', 'hasOwnProperty', 'valueOf', 'isPrototypeOf', 'toLocaleString', '7', '0'];
/** Names of containers, volumes and ports. */
const names = ['constructor', 'tostring', 'valueof', 'length', 'name', '0', '1'];

function podNamed(uid: string, name: string, other: string): Pod {
  const mounts = { volumeMounts: [{ name, mountPath: `/${name}` }], resources: { limits: { cpu: '1' } } };
  const env = [
    { name, value: 'first' },
    { name: '__proto__', value: `$(${name})` },
    { name: 'toString', valueFrom: { fieldRef: { fieldPath: `metadata.labels['${name}']` } } },
  ];
  return podWith(
    name,
    {
      nodeSelector: { 'kubernetes.io/os': 'linux' },
      volumes: [{ name, emptyDir: {} }],
      initContainers: [containerWith(other, { command: ['true'], ...mounts })],
      containers: [
        containerWith(name, { ...mounts, env, ports: [{ name, containerPort: 80 }] }),
        containerWith('plain', mounts),
      ],
    },
    { uid, labels: { constructor: 'other', [name]: 'label' }, annotations: { [name]: 'annotation' } },
  );
}

/** Checks that a container of a pod runs and is ready. */
const runs = (node: SimulatedNode, pod: string, container: string) =>
  expect(node.container(pod, container)).toMatchObject({ ready: true, state: { running: {} } });

const podNames = fc
  .record({ uid: fc.constantFrom(...uids), name: fc.constantFrom(...names), other: fc.constantFrom(...names) })
  .filter(({ name, other }) => name !== other);

/** Replaces values, because a recording contains digests in their place. */
const withoutValues = (pods: readonly Pod[]): unknown =>
  JSON.parse(JSON.stringify(pods, (key, value) => (key === 'value' && typeof value === 'string' ? 'a value' : value)));

test('a pod with odd names runs, is adopted, restarts, is explained and terminates without leftovers', async () => {
  await fc.assert(
    fc.asyncProperty(podNames, async ({ uid, name, other }) => {
      const pod = podNamed(uid, name, other);
      const node = await simulatedNode({ pods: [pod, podWith('beside')] });
      await node.advance('2s');
      runs(node, name, name);
      // Calls of one kind have requests of that kind, but their common type does not say so.
      const made = node.calls('createContainer').map(({ request }) => request as RequestOf<'createContainer'>);
      const envs = made.flatMap(({ config }) => config?.envs ?? []).map(({ key, value }) => `${key}=${value}`);
      expect(envs).toEqual([`${name}=first`, '__proto__=first', 'toString=label']);
      expect(node.agent.explain(name)).toMatchObject({ name, phase: 'Running' });
      await node.restartAgent();
      await node.advance('2s');
      runs(node, name, name);
      expect(node.calls('createContainer')).toHaveLength(made.length);
      node.runtime.exitContainer(node.containerId(name, name), 1);
      await node.advance('2s');
      runs(node, name, name);
      expect(node.container(name, name).restartCount).toBe(1);
      node.apply({ ...pod, metadata: { ...pod.metadata, labels: { toString: 'edited' } } });
      await node.advance('1s');
      expect(node.agent.pods().find(({ metadata }) => metadata.uid === uid)?.metadata.labels).toEqual({
        toString: 'edited',
      });
      const replayed = createReplay(
        JSON.parse(JSON.stringify(node.agent.input)),
        JSON.parse(JSON.stringify(node.entries)),
      );
      expect(await replayed.playEntries()).toEqual([]);
      expect(withoutValues(replayed.agent.pods())).toEqual(withoutValues(node.agent.pods()));
      replayed.agent.stop();
      node.remove(name, 'beside');
      await node.advance('40s');
      expect(node.has(name)).toBe(false);
      expect(await node.leftovers()).toEqual([]);
      expect(node.errors).toEqual([]);
    }),
    { numRuns: 8, examples: uids.slice(0, 3).map((uid) => [{ uid, name: 'constructor', other: 'tostring' }]) },
  );
});

test('a completed pod with an odd UID stays completed under the next agent', async () => {
  const node = await simulatedNode({
    pods: uids.map((uid) =>
      podWith(
        `once-${uid.toLowerCase()}`,
        { restartPolicy: 'Never', containers: [containerWith('constructor', { command: ['true'] })] },
        { uid },
      ),
    ),
  });
  await node.advance('5s');
  await node.restartAgent();
  await node.advance('5s');
  expect(node.agent.pods().map(({ status }) => status?.phase)).toEqual(uids.map(() => 'Succeeded'));
  expect(node.calls('createContainer')).toHaveLength(uids.length);
});
