import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { Container } from '../../kubernetes/api/schema/container.ts';
import { eventually } from './support/eventually.ts';
import { nodeForAllTests } from './support/forAllTests.ts';
import { podManifest, shell, steadily } from './support/manifests.ts';
import { containerOf, identitiesOf, upNode } from './support/node.ts';

const node = await nodeForAllTests(upNode);

const volumeMounts = [{ name: 'shared', mountPath: '/shared' }];

/** Returns a container that mounts the directory shared with the test. */
const sharingContainer = (name: string, script: string, more: Partial<Container> = {}) =>
  shell(name, script, { ...more, volumeMounts });

/** Returns a container that writes a line when it starts and, after a short delay, when it receives SIGTERM. */
const tracedContainer = (name: string, file: string, more: Partial<Container> = {}) => {
  const end = `sleep 0.3; echo ${name} ends >> /shared/${file}; exit 0`;
  const script = `echo ${name} starts >> /shared/${file}; trap '${end}' TERM; while :; do sleep 0.1; done`;
  return sharingContainer(name, script, more);
};

const withShared = (spec: Parameters<typeof podManifest>[2] = {}) => ({
  ...spec,
  volumes: [{ name: 'shared', hostPath: { path: node.shared } }],
});

const readLines = async (file: string) => (await readFile(join(node.shared, file), 'utf8')).trim().split('\n');

test('C3, C4, C11: init containers and sidecars start in order, and sidecars stop last, in reverse', async () => {
  const initContainers = [
    tracedContainer('first', 'order', { restartPolicy: 'Always' }),
    sharingContainer('setup', 'echo setup >> /shared/order'),
    tracedContainer('second', 'order', { restartPolicy: 'Always' }),
  ];
  const pod = podManifest('ordered', [tracedContainer('main', 'order')], withShared({ initContainers }));
  await node.write('ordered', pod);
  await node.running('ordered');
  await eventually('main has started', async () => (await readLines('order')).includes('main starts'));
  await node.remove('ordered');
  await node.gone('ordered');
  expect(await readLines('order')).toEqual([
    'first starts',
    'setup',
    'second starts',
    'main starts',
    'main ends',
    'second ends',
    'first ends',
  ]);
});

test('C9, C11: a pod whose main container completes stops its sidecar gracefully, and retains both exit codes', async () => {
  const initContainers = [tracedContainer('proxy', 'done', { restartPolicy: 'Always' })];
  const spec = withShared({ initContainers, restartPolicy: 'Never' });
  await node.write('done', podManifest('done', [sharingContainer('main', 'sleep 1; exit 0')], spec));
  const pod = await node.until('has succeeded', 'done', (each) => each.status?.phase === 'Succeeded' && each);
  expect(containerOf(pod).state?.terminated).toMatchObject({ exitCode: 0, reason: 'Completed' });
  expect(pod.status?.initContainerStatuses).toMatchObject([{ state: { terminated: { exitCode: 0 } } }]);
  expect(await readLines('done')).toEqual(['proxy starts', 'proxy ends']);
});

test('C5: a restart rule restarts all containers in place: init containers run again, and sandbox and address are preserved', async () => {
  const rule = { action: 'RestartAllContainers' as const, exitCodes: { operator: 'In' as const, values: [42] } };
  // The second run handles SIGTERM, because otherwise the node would wait for the grace period at the end of the test.
  const once = `if [ -e /shared/again ]; then ${steadily()}; fi; touch /shared/again; sleep 1; exit 42`;
  const containers = [
    tracedContainer('main', 'rule'),
    sharingContainer('watcher', once, { restartPolicy: 'Never', restartPolicyRules: [rule] }),
  ];
  const initContainers = [sharingContainer('setup', 'echo setup >> /shared/rule')];
  await node.write('ruled', podManifest('ruled', containers, withShared({ initContainers })));
  const before = await node.running('ruled');
  const restarted = await node.until('has restarted', 'ruled', (pod) => {
    const all = Object.values(identitiesOf(pod));
    return all.length === 2 && all.every(({ restarts }) => restarts === 1) && containerOf(pod, 'main').ready && pod;
  });
  expect(restarted.status?.podIP).toBe(before.status?.podIP);
  expect(restarted.status?.initContainerStatuses?.[0]?.restartCount).toBe(1);
  expect((await readLines('rule')).filter((line) => line === 'setup')).toHaveLength(2);
});
