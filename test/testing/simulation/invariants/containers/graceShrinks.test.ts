import { expect, test } from '@jest/globals';
import { graceShrinks } from '../../../../../testing/simulation/invariants/containers/graceShrinks.ts';
import type { Watched } from '../../../../../testing/simulation/invariants/invariant.ts';
import { simulateNode } from '../../../../../testing/simulation/simulateNode.ts';
import { manifest } from '../../../../../testing/simulation/stories/manifests.ts';

/** A node with a pod, and what the invariant says to made-up ends and removals of it. */
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
  const said = () => broken.splice(0).map((message) => message.replace(/^default\/web-node-1:? /, ''));
  return { node, ends, goesOn, call, stop, said, restart, trees, uid: pod.metadata.uid };
}

test('neither the grace period of a pod nor the deadline of its termination is extended', async () => {
  const { ends, said, restart } = await watchedNode();
  ends(30, 100_000);
  ends(5, 90_000);
  expect(said()).toEqual([]);
  ends(6, 90_000);
  expect(said()).toEqual(['its grace period increased to 6 s']);
  ends(6, 90_001);
  expect(said()).toEqual(['its deadline is 90001 instead of 90000']);
  restart();
  ends(30, 200_000);
  expect(said()).toEqual([]);
});

test('the grace period under an earlier agent does not bind the next one, whatever else is published first', async () => {
  const { ends, goesOn, said, restart } = await watchedNode();
  ends(5, 90_000);
  restart();
  goesOn();
  ends(5, 200_000);
  expect(said()).toEqual([]);
});

test('a running container is not removed before it was stopped', async () => {
  const { node, call, said } = await watchedNode();
  const [container] = node.host.containers();
  call('removeContainer', container?.id ?? '');
  expect(said()).toEqual(['main: removed while running, without having been stopped']);
  call('stopContainer', container?.id ?? '');
  call('removeContainer', container?.id ?? '');
  expect(said()).toEqual([]);
  node.kill();
});

test('the grace period of a container is not extended under any agent, unless its pod is wanted again', async () => {
  const { node, stop, said, restart } = await watchedNode();
  const [{ id = '' } = {}] = node.host.containers();
  stop(id, 30);
  stop(id, 2);
  expect(said()).toEqual([]);
  stop(id, 3);
  expect(said()).toEqual([`container ${id}: its grace period increased from 2 to 3 s`]);
  restart();
  stop(id, 30);
  expect(said()).toEqual([]);
  node.remove('default/web-node-1');
  restart();
  stop(id, 31);
  expect(said()).toEqual([`container ${id}: its grace period increased from 30 to 31 s`]);
});

test('a sandbox is not stopped before its containers have exited or their grace period is over', async () => {
  const { node, call, stop, said } = await watchedNode();
  const [{ id = '', sandbox } = {}] = node.host.containers();
  const stopSandbox = () => call('stopPodSandbox', sandbox?.id ?? '');
  stop(id, 30);
  stopSandbox();
  expect(said()).toEqual(['main: its sandbox is stopped before the end of its grace period']);
  await node.advance(29_999);
  stopSandbox();
  expect(said()).toHaveLength(1);
  await node.advance(1);
  stopSandbox();
  expect(said()).toEqual([]);
  node.kill();
});

test('the first stop of a container has the grace period of its pod, or what is left of it', async () => {
  const { node, stop, said } = await watchedNode();
  const [{ id = '' } = {}] = node.host.containers();
  stop(id, 4);
  expect(said()).toEqual([`container ${id}: it got a grace period of 4 s instead of 5 s`]);
  stop(id, 1);
  expect(said()).toEqual([`container ${id}: it got a grace period of 1 s instead of 2 s`]);
  const another = await watchedNode();
  another.trees.set(another.uid, { termination: { at: another.node.host.clock.now() - 2_000, graceSeconds: 5 } });
  const [{ id: other = '' } = {}] = another.node.host.containers();
  another.stop(other, 3);
  expect(another.said()).toEqual([]);
  node.kill();
  another.node.kill();
});
