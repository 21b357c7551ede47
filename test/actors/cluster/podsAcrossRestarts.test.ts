/** Pods that change while no agent runs (`test/e2e_node/restart_test.go`). */
import { expect, test } from '@jest/globals';
import { boundPod, type JoinedNode, joinedNode, PODS } from '../../fakes/joinedNode.ts';
import { IMAGE } from '../../fakes/pods.ts';

const capacity = { cpuMillis: 4_000, memoryBytes: 2 ** 33, pods: 110 };

const podRequesting = (name: string, cpu: string, script = 'sleep 1000') => {
  const container = { name: 'main', image: IMAGE, command: ['sh', '-c', script], resources: { requests: { cpu } } };
  return boundPod(name, { containers: [container], restartPolicy: 'Never' });
};

const phaseOf = async ({ ask }: JoinedNode, name: string) => Object(await ask('GET', `${PODS}/${name}`)).status.phase;

const isGone = async ({ ask }: JoinedNode, name: string) =>
  (await ask('GET', `${PODS}/${name}`).catch((error: Error) => error.message)).toString().includes('404');

/** Requests the deletion of a pod with a grace period, so that the pod exists until its node confirms the deletion. */
const markDeleted = ({ ask }: JoinedNode, name: string) => ask('DELETE', `${PODS}/${name}`, { gracePeriodSeconds: 30 });

test('a completed pod uses no resources of the node after an agent restart', async () => {
  const story = await joinedNode({ config: { capacity } });
  const { ask, node } = story;
  await ask('POST', PODS, podRequesting('done', '3', 'exit 0'));
  await node.advance('15s');
  expect(await phaseOf(story, 'done')).toBe('Succeeded');
  await node.restartAgent();
  await ask('POST', PODS, podRequesting('next', '3'));
  await node.advance('15s');
  expect([await phaseOf(story, 'done'), await phaseOf(story, 'next')]).toEqual(['Succeeded', 'Running']);
});

test('a pod that was deleted and marked as failed while no agent ran is gone after a restart', async () => {
  const story = await joinedNode({ config: { capacity } });
  const { ask, node } = story;
  node.killAgent();
  await ask('POST', PODS, podRequesting('web', '1'));
  await markDeleted(story, 'web');
  await ask('PATCH', `${PODS}/web/status`, { status: { phase: 'Failed' } }, 'application/merge-patch+json');
  expect([await isGone(story, 'web'), await phaseOf(story, 'web')]).toEqual([false, 'Failed']);
  await node.startAgent();
  await node.advance('1m');
  expect(await isGone(story, 'web')).toBe(true);
  expect(node.calls('runPodSandbox')).toEqual([]);
});

test('a pod without room that was created and deleted while no agent ran is gone after a restart', async () => {
  const story = await joinedNode({ config: { capacity } });
  const { ask, node } = story;
  node.killAgent();
  await ask('POST', PODS, podRequesting('large', '1000'));
  await markDeleted(story, 'large');
  expect(await isGone(story, 'large')).toBe(false);
  await node.startAgent();
  await node.advance('1m');
  expect(await isGone(story, 'large')).toBe(true);
  expect(node.calls('runPodSandbox')).toEqual([]);
});

test('a running pod that no longer has room and was deleted while no agent ran is gone after a restart', async () => {
  const story = await joinedNode({ config: { capacity } });
  const { ask, node } = story;
  await ask('POST', PODS, podRequesting('web', '3'));
  await node.advance('15s');
  expect(await phaseOf(story, 'web')).toBe('Running');
  node.killAgent();
  await markDeleted(story, 'web');
  node.reconfigure({ capacity: { ...capacity, cpuMillis: 1_000 } });
  await node.startAgent();
  await node.advance('1m');
  expect(await isGone(story, 'web')).toBe(true);
  expect(node.runtime.contents()).toMatchObject({ sandboxes: [], containers: [] });
});
