import { expect, test } from '@jest/globals';
import { graceShrinks } from '../../../../../testing/simulation/invariants/containers/graceShrinks.ts';
import type { Watched } from '../../../../../testing/simulation/invariants/invariant.ts';
import { simulateNode } from '../../../../../testing/simulation/simulateNode.ts';
import { manifest } from '../../../../../testing/simulation/stories/manifests.ts';

/** Creates a node with a pod, and an invariant that is fed with made-up terminations and removals of it. */
async function watchedNode() {
  const node = await simulateNode({ seed: 1 });
  node.apply(manifest('web'));
  await node.advance(10_000);
  const [pod] = node.pods();
  if (pod === undefined) throw new Error('the node has no pod');
  const trees = new Map<string, object>();
  const watched = {
    host: node.host,
    actionLog: node.actionLog,
    agentNumber: 1,
    podOf: () => pod,
    agent: { trees: () => trees },
  };
  const broken: string[] = [];
  const following = graceShrinks.follow(watched as unknown as Watched, (message) => void broken.push(message));
  const ends = (seconds: number, until: number) =>
    following.onStatus?.({
      uid: pod.metadata.uid,
      removed: false,
      tree: { state: 'terminating.stoppingContainers.graceful', until },
      pod: { ...pod, metadata: { ...pod.metadata, deletionGracePeriodSeconds: seconds } },
    } as never);
  const goesOn = () =>
    following.onStatus?.({ uid: pod.metadata.uid, removed: false, tree: { state: 'active' }, pod } as never);
  const call = (name: string, about: string) => following.onCall?.({ target: 'runtime', name, about, writes: true });
  const stop = (about: string, graceSeconds: number) =>
    following.onCall?.({ target: 'runtime', name: 'stopContainer', about, writes: true, graceSeconds });
  const restart = () => {
    watched.agentNumber += 1;
    following.onAgentStarted?.();
  };
  const violations = () => broken.splice(0).map((message) => message.replace(/^default\/web-node-1:? /, ''));
  return { node, ends, goesOn, call, stop, violations, restart, trees, uid: pod.metadata.uid };
}

test('neither the grace period of a pod nor the deadline of its termination is extended', async () => {
  const { ends, violations, restart } = await watchedNode();
  ends(30, 100_000);
  ends(5, 90_000);
  expect(violations()).toEqual([]);
  ends(6, 90_000);
  expect(violations()).toEqual(['its grace period increased to 6 s']);
  ends(6, 90_001);
  expect(violations()).toEqual(['its deadline is 90001 instead of 90000']);
  restart();
  ends(30, 200_000);
  expect(violations()).toEqual([]);
});

test('the grace period under an earlier agent does not bind the next one, whatever else is published first', async () => {
  const { ends, goesOn, violations, restart } = await watchedNode();
  ends(5, 90_000);
  restart();
  goesOn();
  ends(5, 200_000);
  expect(violations()).toEqual([]);
});

test('a running container is not removed before it was stopped', async () => {
  const { node, call, violations } = await watchedNode();
  const [container] = node.host.containers();
  call('removeContainer', container?.id ?? '');
  expect(violations()).toEqual(['main: removed while running, without having been stopped']);
  call('stopContainer', container?.id ?? '');
  call('removeContainer', container?.id ?? '');
  expect(violations()).toEqual([]);
  node.kill();
});

test('the grace period of a container is not extended under any agent, unless its pod is wanted again', async () => {
  const { node, stop, violations, restart } = await watchedNode();
  const [{ id = '' } = {}] = node.host.containers();
  stop(id, 30);
  stop(id, 2);
  expect(violations()).toEqual([]);
  stop(id, 3);
  expect(violations()).toEqual([`container ${id}: its grace period increased from 2 to 3 s`]);
  restart();
  stop(id, 30);
  expect(violations()).toEqual([]);
  node.remove('default/web-node-1');
  restart();
  stop(id, 31);
  expect(violations()).toEqual([`container ${id}: its grace period increased from 30 to 31 s`]);
});

test('a sandbox is not stopped before its containers have exited or their grace period is over', async () => {
  const { node, call, stop, violations } = await watchedNode();
  const [{ id = '', sandbox } = {}] = node.host.containers();
  const stopSandbox = () => call('stopPodSandbox', sandbox?.id ?? '');
  stop(id, 30);
  stopSandbox();
  expect(violations()).toEqual(['main: its sandbox is stopped before the end of its grace period']);
  await node.advance(29_999);
  stopSandbox();
  expect(violations()).toHaveLength(1);
  await node.advance(1);
  stopSandbox();
  expect(violations()).toEqual([]);
  node.kill();
});

test('the first stop of a container has the grace period of its pod, or what is left of it', async () => {
  const { node, stop, violations } = await watchedNode();
  const [{ id = '' } = {}] = node.host.containers();
  stop(id, 4);
  expect(violations()).toEqual([`container ${id}: it got a grace period of 4 s instead of 5 s`]);
  stop(id, 1);
  expect(violations()).toEqual([`container ${id}: it got a grace period of 1 s instead of 2 s`]);
  const another = await watchedNode();
  another.trees.set(another.uid, { termination: { at: another.node.host.clock.now() - 2_000, graceSeconds: 5 } });
  const [{ id: other = '' } = {}] = another.node.host.containers();
  another.stop(other, 3);
  expect(another.violations()).toEqual([]);
  node.kill();
  another.node.kill();
});
