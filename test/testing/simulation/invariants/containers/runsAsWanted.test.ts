import { expect, test } from '@jest/globals';
import type { ContainerConfig } from '../../../../../cri/generated/runtime.ts';
import { runsAsWanted } from '../../../../../testing/simulation/invariants/containers/runsAsWanted.ts';
import type { Hooks, Invariant, Watched } from '../../../../../testing/simulation/invariants/invariant.ts';
import type { FaultPlan } from '../../../../../testing/simulation/run/gate.ts';
import { simulateNode } from '../../../../../testing/simulation/simulateNode.ts';
import {
  container,
  type Manifest,
  type ManifestSpec,
  manifest,
} from '../../../../../testing/simulation/stories/manifests.ts';

const NAME = 'default/web-node-1';
const shell = (script: string) => ['sh', '-c', script];
const web = (spec: Partial<ManifestSpec>): Manifest => {
  const { metadata, ...rest } = manifest('web', spec);
  return { ...rest, metadata: { ...metadata, uid: 'uid-of-web' } };
};

/**
 * Creates a node and returns its violations at rest. Calls may fail, and the node may appear to have more room than it
 * has.
 */
async function watchedNode({ faults, pods = 500 }: { readonly faults?: FaultPlan; readonly pods?: number } = {}) {
  const broken: string[] = [];
  let following: Hooks = {};
  let hasMore = false;
  const watching: Invariant = {
    ...runsAsWanted,
    follow: (watched) => {
      const seen: Watched = Object.create(watched, {
        capacity: { get: () => (hasMore ? { ...watched.capacity, pods: 500 } : watched.capacity) },
      });
      following = runsAsWanted.follow(seen, (message) => void broken.push(message));
      const { atRest: _, ...hooks } = following;
      return hooks;
    },
  };
  const capacity = { cpuMillis: 64_000, memoryBytes: 2 ** 38, pods };
  const config = { capacity, crashLoop: { baseMs: 1_000, maxMs: 2_000 } };
  const node = await simulateNode({ seed: 1, invariants: [watching], config, faults });
  const violations = () => {
    following.atRest?.();
    return broken.splice(0).map((message) => message.replace(`${NAME} `, ''));
  };
  const offerMore = () => {
    hasMore = true;
  };
  return { node, violations, offerMore };
}

test('a pod is reported until it exists, and then its containers until they have run', async () => {
  const failing: FaultPlan = ({ name, about }) =>
    name === 'createContainer' && about !== '' ? { kind: 'fail' } : undefined;
  const { node, violations } = await watchedNode({ faults: failing });
  node.apply(web({}));
  expect(violations()).toEqual(['is wanted, but the node has these pods of this name: ']);
  await node.advance(20_000);
  expect(violations()).toEqual(['main has never run']);
  node.endFaults();
  await node.advance(60_000);
  expect(violations()).toEqual([]);
  node.kill();
});

test.each([
  [
    'image',
    { containers: [container('main', { image: 'registry.local/pulled:1' })] },
    'main runs registry.local/present:1, not registry.local/pulled:1',
  ],
  [
    'size',
    { containers: [container('main', { resources: { requests: { cpu: '200m' } } })] },
    'main does not have the requested size',
  ],
])('a running container has the current %s of its manifest', async (_, changed, wrong) => {
  const { node, violations } = await watchedNode();
  node.apply(web({ containers: [container('main', { resources: { requests: { cpu: '100m' } } })] }));
  await node.advance(20_000);
  expect(violations()).toEqual([]);
  node.apply(
    web({ containers: changed.containers.map((each) => ({ resources: { requests: { cpu: '100m' } }, ...each })) }),
  );
  expect(violations()).toEqual([wrong]);
  await node.advance(60_000);
  expect(violations()).toEqual([]);
  node.kill();
});

test('a rejected resize leaves a container unchanged', async () => {
  const { node, violations } = await watchedNode();
  const ofSize = (cpu: string) => web({ containers: [container('main', { resources: { requests: { cpu } } })] });
  node.apply(ofSize('100m'));
  await node.advance(20_000);
  node.apply(ofSize('80'));
  await node.advance(60_000);
  expect(violations()).toEqual([]);
  node.kill();
});

test('a pod that was changed while no agent was running may retain resources that no resize can change', async () => {
  const { node, violations } = await watchedNode();
  const ofSize = (resources: object) => web({ containers: [container('main', { resources })] });
  const resources = () => node.host.containers()[0]?.config.linux?.resources;
  node.apply(ofSize({ requests: { cpu: '200m', memory: '16Mi' } }));
  await node.advance(20_000);
  const shares = resources()?.cpuShares ?? 0n;
  node.kill();
  node.remove(NAME);
  node.apply(ofSize({ requests: { cpu: '100m' } }));
  await node.startAgent();
  await node.advance(60_000);
  expect([resources()?.cpuShares, ...violations()]).toEqual([shares]);
  node.remove(NAME);
  await node.advance(60_000);
  node.apply(ofSize({ requests: { cpu: '100m' } }));
  await node.advance(20_000);
  expect(violations()).toEqual([]);
  Object.assign(resources() ?? {}, { cpuShares: shares });
  expect(violations()).toEqual(['main does not have the requested size']);
  node.kill();
});

test('a running container has the command, the user and the mounts of its manifest', async () => {
  const { node, violations } = await watchedNode();
  const volumes = [{ name: 'cache', emptyDir: {} }];
  const volumeMounts = [{ name: 'cache', mountPath: '/cache' }];
  const securityContext = { runAsUser: 1_000, fsGroup: 2_000 };
  node.apply(web({ volumes, securityContext, containers: [container('main', { volumeMounts })] }));
  await node.advance(20_000);
  expect(violations()).toEqual([]);
  // Changes the container to what a faulty agent would have created.
  const config = node.host.containers()[0]?.config as ContainerConfig;
  config.command = ['sleep'];
  config.mounts = config.mounts.filter(({ containerPath }) => containerPath !== '/cache');
  const security = config.linux?.securityContext;
  if (security !== undefined) security.supplementalGroups = [];
  expect(violations()).toEqual([
    'main runs a different command',
    'main runs as a different user',
    'main runs without its volume cache at /cache',
  ]);
  node.kill();
});

test.each([
  ['an init container', { initContainers: [container('setup', { command: shell('exit 1') })] }, 'setup'],
  [
    'a sidecar',
    { initContainers: [container('setup', { command: shell('exit 1'), restartPolicy: 'Always' })] },
    'setup',
  ],
  [
    'one of its containers',
    { containers: [container('main'), container('helper', { command: shell('exit 1') })] },
    'helper',
  ],
])('%s that exits repeatedly restarts within its back-off', async (_, spec, name) => {
  let fails = false;
  const failing: FaultPlan = ({ name: called, about }) =>
    fails && called === 'createContainer' && about !== '' ? { kind: 'fail' } : undefined;
  const { node, violations } = await watchedNode({ faults: failing });
  node.apply(web(spec));
  await node.advance(60_000);
  expect(violations()).toEqual([]);
  fails = true;
  await node.advance(60_000);
  expect(violations()).toContain(`${name} has not been restarted`);
  node.kill();
});

test('a pod is rejected only if there is no room for it', async () => {
  const { node, violations, offerMore } = await watchedNode({ pods: 1 });
  node.apply(manifest('first'));
  await node.advance(20_000);
  node.apply(web({}));
  await node.advance(20_000);
  expect(violations()).toEqual([]);
  offerMore();
  expect(violations()).toEqual(['is Failed without a reason']);
  node.kill();
});

test('a pod is terminal only if it may be, and then none of its containers is running', async () => {
  const { node, violations } = await watchedNode();
  node.apply(web({ restartPolicy: 'Never', containers: [container('main', { command: shell('exit 1') })] }));
  await node.advance(20_000);
  expect(violations()).toEqual([]);
  const [ended] = node.host.containers();
  if (ended === undefined) throw new Error('there is no container');
  Object.assign(ended, { lifecycle: { state: 'running' } });
  expect(violations()).toEqual(['has terminated, but main is still running']);
  node.kill();
});
