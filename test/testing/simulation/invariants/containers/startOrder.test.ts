import { expect, test } from '@jest/globals';
import type { PodChange } from '../../../../../actors/status/statusBoard.ts';
import type { Mount } from '../../../../../cri/generated/runtime.ts';
import type { Pod } from '../../../../../kubernetes/api/schema/pod.ts';
import { PATHS } from '../../../../../testing/simulation/host/host.ts';
import { startOrder } from '../../../../../testing/simulation/invariants/containers/startOrder.ts';
import type { Watched } from '../../../../../testing/simulation/invariants/invariant.ts';
import { simulateNode } from '../../../../../testing/simulation/simulateNode.ts';
import { container, type ManifestSpec, manifest } from '../../../../../testing/simulation/stories/manifests.ts';

const volumes = [
  { name: 'cache', emptyDir: {} },
  { name: 'memory', emptyDir: { medium: 'Memory' } },
  { name: 'hosts', hostPath: { path: '/etc/hosts', type: 'File' } },
  { name: 'image', image: { reference: 'registry.local/pulled:1' } },
  { name: 'labels', downwardAPI: { items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] } },
];
const volumeMounts = [
  { name: 'cache', mountPath: '/cache', subPath: 'part' },
  { name: 'memory', mountPath: '/memory/' },
  { name: 'hosts', mountPath: '/hosts', readOnly: true },
  { name: 'image', mountPath: '/image' },
  { name: 'labels', mountPath: '/labels' },
];

/** Creates a node that runs a pod, and an invariant that is fed with made-up events of it. */
async function watchedNode(spec: Partial<ManifestSpec> = {}) {
  const node = await simulateNode({ seed: 1 });
  node.apply(manifest('web', spec));
  await node.advance(10_000);
  const [pod] = node.pods();
  const [sandbox] = node.host.sandboxes();
  if (pod === undefined || sandbox === undefined) throw new Error('the pod does not run');
  const broken: string[] = [];
  const watched = { host: node.host, podOf: () => pod } as unknown as Watched;
  const following = startOrder.follow(watched, (message) => void broken.push(message));
  const found = (name: string) => {
    const made = node.host.containers().find(({ containerName }) => containerName === name);
    if (made === undefined) throw new Error(`there is no container ${name}`);
    return made;
  };
  const call = (name: string, about: string) => following.onCall?.({ target: 'runtime', name, about, writes: true });
  const violations = () => broken.splice(0).map((message) => message.replace(/^default\/web-node-1:? /, ''));
  return {
    node,
    pod,
    sandbox,
    ...following,
    watched,
    found,
    call,
    violations,
    start: (name: string) => call('startContainer', found(name).id),
  };
}

/** Returns a change of the pod with these statuses of its init containers. */
const statusChange = (pod: Pod, initContainerStatuses: readonly unknown[]) =>
  ({
    uid: pod.metadata.uid,
    pod: { ...pod, status: { ...pod.status, initContainerStatuses } },
  }) as unknown as PodChange;

test('no sandbox is created before the volumes of its pod are mounted', async () => {
  const { node, pod, sandbox, onEffect, violations } = await watchedNode({ volumes: volumes.slice(0, 1) });
  onEffect?.({ kind: 'created', sandbox });
  expect(violations()).toEqual([]);
  pod.spec.volumes?.push({ name: 'memory', emptyDir: { medium: 'Memory' } });
  onEffect?.({ kind: 'created', sandbox });
  expect(violations()).toEqual(['its sandbox was created before its volume memory']);
  node.kill();
});

test('no container starts after a request to stop it or its sandbox', async () => {
  const { node, sandbox, found, call, start, onAgentStarted, violations } = await watchedNode();
  start('main');
  expect(violations()).toEqual([]);
  for (const [name, id] of [
    ['stopContainer', found('main').id],
    ['stopPodSandbox', sandbox.id],
  ] as const) {
    call(name, id);
    start('main');
    expect(violations()).toEqual(['main: started after its stop was requested']);
    onAgentStarted?.();
  }
  start('main');
  expect(violations()).toEqual([]);
  node.kill();
});

test('no container starts before its init containers have succeeded and its sidecars have started', async () => {
  const { node, pod, sandbox, found, onEffect, onStatus, start, violations } = await watchedNode({
    initContainers: [
      container('setup', { command: ['sh', '-c', 'exit 0'] }),
      container('sidecar', { restartPolicy: 'Always' }),
    ],
  });
  start('main');
  expect(violations()).toEqual(['main: started before setup, sidecar']);
  onEffect?.({ kind: 'ended', sandbox, container: found('setup') });
  start('sidecar');
  expect(violations()).toEqual([]);
  start('main');
  expect(violations()).toEqual(['main: started before sidecar']);
  onEffect?.({ kind: 'started', sandbox, container: found('sidecar') });
  const [first, sidecar] = pod.status?.initContainerStatuses ?? [];
  const report = (status: object) => onStatus?.(statusChange(pod, [first, { ...sidecar, ...status }]));
  // The sidecar runs, but its startup probe has not passed.
  report({ started: false });
  start('main');
  expect(violations()).toEqual(['main: started before sidecar']);
  report({});
  start('main');
  expect(violations()).toEqual([]);
  // The sidecar has started once, so its later statuses do not matter.
  report({ started: false });
  start('main');
  expect(violations()).toEqual([]);
  node.kill();
});

test('the actor of a sidecar shows that it has started while its status is withheld', async () => {
  const { node, pod, watched, afterStep, start, violations } = await watchedNode({
    initContainers: [container('sidecar', { restartPolicy: 'Always' })],
  });
  const startup = { id: 'probe/startup' };
  const sidecar = { id: 'container/sidecar', tags: ['steady', 'running'], children: [startup] };
  const show = (shown: object) => {
    const trees = new Map([[pod.metadata.uid, { children: [{ ...sidecar, ...shown }] }]]);
    Object.assign(watched, { agent: { unpublishedUids: () => [pod.metadata.uid], trees: () => trees } });
    afterStep?.();
    start('main');
    return violations();
  };
  expect(show({})).toEqual(['main: started before sidecar']);
  expect(show({ tags: ['working'], children: [] })).toEqual(['main: started before sidecar']);
  expect(show({ children: [] })).toEqual([]);
  node.kill();
});

test('no container starts before the containers that precede it have had their turn', async () => {
  const { node, pod, onCall, start, violations } = await watchedNode({
    containers: [container('main'), container('helper')],
  });
  const first = pod.status?.containerStatuses?.find(({ name }) => name === 'main');
  if (first === undefined) throw new Error('it has no status');
  first.state = { waiting: { reason: 'ContainerCreating' } };
  const recordTurn = () =>
    onCall?.({
      target: 'disk',
      name: 'mkdir',
      writes: true,
      about: `${PATHS.root}/pods/${pod.metadata.uid}/containers/helper`,
    });
  recordTurn();
  start('helper');
  expect(violations()).toEqual(['helper: started before main']);
  start('main');
  recordTurn();
  start('helper');
  expect(violations()).toEqual([]);
  node.kill();
});

test.each([
  ['creatingContainer', []],
  ['readyToCreate', ['helper: started before main']],
])(
  'a container that has failed may be overtaken only by a container whose turn had come before: it was %s',
  async (tag, says) => {
    const { node, pod, watched, onCall, onStatus, start, violations } = await watchedNode({
      containers: [container('main'), container('helper')],
    });
    const first = pod.status?.containerStatuses?.find(({ name }) => name === 'main');
    if (first === undefined) throw new Error('it has no status');
    const { uid } = pod.metadata;
    const tree = { id: `pod/${uid}`, children: [{ id: 'container/helper', tags: [tag], children: [] }] };
    Object.assign(watched, { agent: { trees: () => new Map([[uid, tree]]) } });
    first.state = { waiting: { reason: 'ImageInspectError' } };
    onStatus?.({ uid, pod, removed: false } as unknown as PodChange);
    first.state = { waiting: { reason: 'ContainerCreating' } };
    const about = `${PATHS.root}/pods/${uid}/containers/helper`;
    onCall?.({ target: 'disk', name: 'mkdir', writes: true, about });
    start('helper');
    expect(violations()).toEqual(says);
    node.kill();
  },
);

test('a container starts with exactly the mounts that it requests', async () => {
  const { node, pod, found, start, violations } = await watchedNode({
    volumes,
    containers: [container('main', { volumeMounts })],
  });
  start('main');
  expect(violations()).toEqual([]);
  // Changes the mounts to what a faulty agent would have created.
  const mounts = found('main').mounts as Mount[];
  const asMade = structuredClone(mounts);
  const startsWith = (changed: readonly Mount[]) => {
    mounts.splice(0, Infinity, ...changed);
    start('main');
    return violations();
  };
  const without = (path: string) => asMade.filter(({ containerPath }) => containerPath !== path);
  const other = (path: string, change: Partial<Mount>) =>
    asMade.map((each) => (each.containerPath === path ? { ...each, ...change } : each));
  expect(startsWith(without('/memory'))).toEqual(['main: started without its volume memory at /memory/']);
  expect(startsWith(other('/memory', { hostPath: '/etc/hosts' }))).toEqual([
    'main: started with /etc/hosts as its volume memory at /memory/',
  ]);
  expect(startsWith(other('/hosts', { readonly: false }))).toEqual([
    'main: started with its volume hosts at /hosts writable',
  ]);
  expect(startsWith(other('/image', { image: undefined }))).toEqual([
    'main: started without the image of its volume image at /image',
  ]);
  expect(startsWith(other('/etc/hosts', { containerPath: '/etc' }))).toEqual([
    'main: started with an unexpected mount at /etc',
  ]);
  mounts.splice(0, Infinity, ...asMade);
  const { disk, files } = node.host;
  const ofPod = `${PATHS.root}/pods/${pod.metadata.uid}`;
  for (const place of ['volumes/kubernetes.io~empty-dir/memory', 'volume-subpaths/cache/main/0'])
    disk.unmount(`${ofPod}/${place}`);
  await files.rm('/etc/hosts');
  start('main');
  expect(violations()).toEqual([
    `main: started without its volume cache at /cache: ${ofPod}/volume-subpaths/cache/main/0 does not exist`,
    `main: started without its volume memory at /memory/: ${ofPod}/volumes/kubernetes.io~empty-dir/memory does not exist`,
    'main: started without its volume hosts at /hosts: /etc/hosts does not exist',
  ]);
  node.kill();
});
