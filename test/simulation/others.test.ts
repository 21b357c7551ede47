import { expect, test } from '@jest/globals';
import { invariants } from '../../simulation/invariants/all.ts';
import { type Simulation, simulateNode } from '../../simulation/simulateNode.ts';
import { container, manifest } from '../../simulation/stories/manifests.ts';

const KUBELETS = '7a1e0000-0000-4000-8000-000000000001';
const MOUNT = `/simulated/lib/pods/${KUBELETS}/volumes/kubernetes.io~projected/token`;

/** A node that others use as well. */
async function shared(): Promise<Simulation> {
  const node = await simulateNode({ seed: 1, invariants });
  node.apply(manifest('web', { containers: [container('main')] }));
  await node.advance(60_000);
  return node;
}

const others = (node: Simulation) => [...node.host.runtime.containers()].filter(({ id }) => node.host.isForeign(id));

test('pods of others run beside the own, and go on when the agent does not', async () => {
  const node = await shared();
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
  ['a mount of theirs', ({ host }) => host.disk.unmount(MOUNT), /token is not mounted any more/],
  ['a file of theirs', ({ host }) => host.disk.unlink('/simulated/data/share.txt'), /share.txt was changed/],
  [
    'a cgroup of theirs',
    ({ host: { cgroups } }) =>
      cgroups.removeDirectory(`/sys/fs/cgroup/${cgroups.paths.find((path) => path.endsWith('podleft-by-somebody'))}`),
    /the cgroup .* is gone/,
  ],
  ['a sandbox of theirs', (node) => node.host.runtime.removeSandbox(others(node)[0]?.sandbox.id ?? ''), /is gone/],
  ['a container of theirs', (node) => node.host.runtime.exitContainer(others(node)[1]?.id ?? '', 0), /was ended/],
])('%s that goes breaks an invariant', async (_, remove, expected) => {
  const node = await shared();
  remove(node);
  expect(() => node.check()).toThrow(expected);
  node.kill();
});

test('a mount of theirs over which a volume is mounted is hidden, and goes when they take it away', async () => {
  let fails = true;
  const node = await simulateNode({
    ...{ seed: 1, invariants },
    faults: ({ room }) => (fails && room === 'mounts' ? { kind: 'fail' } : undefined),
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
