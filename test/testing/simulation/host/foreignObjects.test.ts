import { describe, expect, test } from '@jest/globals';
import { NEIGHBOUR_POD_UID, TEMPORARY_UIDS } from '../../../../testing/simulation/host/foreignPods.ts';
import { invariants } from '../../../../testing/simulation/invariants/invariants.ts';
import { type Simulation, simulateNode } from '../../../../testing/simulation/simulateNode.ts';
import { container, manifest } from '../../../../testing/simulation/stories/manifests.ts';
import { perform } from '../../../../testing/simulation/stories/perform.ts';

const KUBELETS = '7a1e0000-0000-4000-8000-000000000001';
const MOUNT = `/simulated/lib/pods/${KUBELETS}/volumes/kubernetes.io~projected/token`;

/** Creates a node that other container users share. */
async function sharedNode(): Promise<Simulation> {
  const node = await simulateNode({ seed: 1, invariants });
  node.apply(manifest('web', { containers: [container('main')] }));
  await node.advance(60_000);
  return node;
}

const others = (node: Simulation) => [...node.host.runtime.containers()].filter(({ id }) => node.host.isForeign(id));

test('pods of other agents run beside the pods of the node, and continue while its agent is down', async () => {
  const node = await sharedNode();
  expect(others(node).map(({ podName, state }) => `${podName} ${state}`)).toEqual([
    'by-hand running',
    'kubelets running',
    'neighbour running',
  ]);
  expect(node.host.containers()).toHaveLength(1);
  node.check();
  node.cutPower();
  await node.startAgent();
  await node.advance(60_000);
  node.check();
  expect(others(node)).toHaveLength(3);
  node.kill();
});

test.each<readonly [string, (node: Simulation) => void, RegExp]>([
  ['a foreign mount', ({ host }) => host.disk.unmount(MOUNT), /token is no longer mounted/],
  ['a foreign file', ({ host }) => host.disk.unlink('/simulated/data/share.txt'), /share.txt was changed/],
  [
    'a foreign cgroup',
    ({ host: { cgroups } }) =>
      cgroups.removeDirectory(`/sys/fs/cgroup/${cgroups.paths.find((path) => path.endsWith('podleft-by-somebody'))}`),
    /the cgroup .* is gone/,
  ],
  ['a foreign sandbox', (node) => node.host.runtime.removeSandbox(others(node)[0]?.sandbox.id ?? ''), /is gone/],
  ['a foreign container', (node) => node.host.runtime.exitContainer(others(node)[1]?.id ?? '', 0), /was stopped/],
])('%s that disappears violates an invariant', async (_, remove, expected) => {
  const node = await sharedNode();
  remove(node);
  expect(() => node.check()).toThrow(expected);
  node.kill();
});

test('a foreign mount below the mount of a volume is hidden, and is gone when its owner removes it', async () => {
  let fails = true;
  const node = await simulateNode({
    seed: 1,
    invariants,
    faults: ({ target }) => (fails && target === 'mounts' ? { kind: 'fail' } : undefined),
  });
  const guests = () => node.host.disk.mounts.filter(({ path }) => path.endsWith('/theirs'));
  const volumes = [{ name: 'data', emptyDir: { medium: 'Memory' } }];
  node.apply(manifest('web', { volumes, containers: [container('main')] }));
  await node.advance(5_000);
  node.host.mountForeign(0, 'volumes/kubernetes.io~empty-dir/data/theirs', 60_000);
  fails = false;
  await node.advance(30_000);
  expect(node.host.containers()).toHaveLength(1);
  expect(guests()).toHaveLength(1);
  node.check();
  await node.advance(60_000);
  expect(guests()).toEqual([]);
  node.check();
  node.kill();
});

describe('a temporary pod of another agent', () => {
  const VISITOR = TEMPORARY_UIDS[0] ?? '';
  const names = (node: Simulation) => others(node).map(({ podName }) => podName);
  const cgroup = `/sys/fs/cgroup/kubepods/besteffort/pod${VISITOR}`;

  /** Creates a node with a visiting pod of a different kubelet. */
  async function visitedNode(): Promise<Simulation> {
    const node = await sharedNode();
    perform(node, { kind: 'visit', uid: VISITOR, forMs: 60_000 });
    await node.advance(15_000);
    return node;
  }

  test('is foreign until it leaves, and so is its cgroup', async () => {
    const node = await visitedNode();
    expect(names(node)).toContain(`visitor-${VISITOR}`);
    expect(node.host.isForeign(cgroup)).toBe(true);
    node.check();
    await node.advance(60_000);
    node.check();
    expect(names(node)).not.toContain(`visitor-${VISITOR}`);
    expect([node.host.isForeign(cgroup), node.host.cgroups.exists(cgroup)]).toEqual([false, false]);
    node.kill();
  });

  test('is not touched for a manifest with its UID, which waits until the pod has left', async () => {
    const node = await visitedNode();
    const web = manifest('late');
    node.apply({ ...web, metadata: { ...web.metadata, uid: VISITOR } });
    await node.advance(20_000);
    expect(node.explain('late')?.answer).toContain('is waiting for the agent that created its sandbox to remove it');
    await node.advance(60_000);
    expect(node.pods().map(({ status }) => status?.phase)).toEqual(['Running', 'Running']);
    node.kill();
  });

  test('violates no invariant if it leaves while its container is starting', async () => {
    const node = await sharedNode();
    for (let forMs = 0; forMs < 2_000; forMs += 20) {
      perform(node, { kind: 'stall', forMs });
      perform(node, { kind: 'visit', uid: VISITOR, forMs: 0 });
      await node.advance(10_000);
      node.check();
    }
    expect(names(node)).not.toContain(`visitor-${VISITOR}`);
    node.kill();
  });

  test('violates an invariant if a part of it disappears sooner', async () => {
    const [stopped, removed, unmade] = [await visitedNode(), await visitedNode(), await visitedNode()];
    const theirs = (node: Simulation) => others(node).find(({ podUid }) => podUid === VISITOR);
    stopped.host.runtime.exitContainer(theirs(stopped)?.id ?? '', 0);
    expect(() => stopped.check()).toThrow(/invariant 5.* was stopped/);
    removed.host.runtime.removeSandbox(theirs(removed)?.sandbox.id ?? '');
    expect(() => removed.check()).toThrow(/invariant 5.* is gone from the runtime/);
    unmade.host.runtime.exitContainer(theirs(unmade)?.id ?? '', 0);
    unmade.host.runtime.killSandbox(theirs(unmade)?.sandbox.id ?? '');
    unmade.host.cgroups.removeDirectory(cgroup);
    expect(unmade.host.foreignChanges().join()).toMatch(/the cgroup .* is gone/);
    for (const node of [stopped, removed, unmade]) node.kill();
  });
});

test('a pod with the UID of a permanent foreign pod waits forever, and the foreign pod is not touched', async () => {
  const node = await sharedNode();
  const web = manifest('late');
  node.apply({ ...web, metadata: { ...web.metadata, uid: NEIGHBOUR_POD_UID } });
  await node.advance(60_000);
  node.remove('late');
  await node.settle(60_000);
  expect(others(node)).toHaveLength(3);
  node.kill();
});

test('read-only and unused cgroups are options of the host', async () => {
  for (const cgroups of ['readOnly', 'unused'] as const) {
    const node = await simulateNode({ seed: 1, invariants, cgroups });
    node.apply(manifest('web'));
    await node.settle(60_000);
    expect(node.host.cgroups.paths.filter((path) => /^kubepods\/.*pod/.test(path))).toEqual([]);
    node.remove('web');
    await node.settle(60_000);
    node.kill();
  }
});
