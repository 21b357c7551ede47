import { mkdirSync } from 'node:fs';
import { mkdir, readdir, readlink, rm, rmdir, symlink, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { inspect } from 'node:util';
import { expect, test } from '@jest/globals';
import { createOwnerMark } from '../../actors/store/leftOnDisk.ts';
import { createLayout } from '../../host/pods/layout.ts';
import { claimPodDirectory } from '../../host/pods/takePodDirectory.ts';
import { defaultImageGarbagePolicy } from '../../kubernetes/images/imageGarbage.ts';
import { type SimulatedNode, simulatedNode } from '../fakes/node.ts';
import { containerWith, podRunning, podWith } from '../fakes/pods.ts';

const crashing = podRunning('crash', 'sleep 1; exit 1');

/** Creates a file on the node. */
async function createFile(node: SimulatedNode, file: string): Promise<string> {
  await mkdir(dirname(node.path(file)), { recursive: true });
  await writeFile(node.path(file), 'x');
  return node.path(file);
}

const listed = async (node: SimulatedNode, folder: string) => (await readdir(node.path(folder))).sort();

test('C23: only one dead container of a crash-looping container is retained, with its log and link', async () => {
  const node = await simulatedNode({ pods: [crashing] });
  const { namespace, name, uid } = crashing.metadata;
  const logs = `logs/pods/${namespace}_${name}_${uid}/main`;
  await node.advance('5s');
  for (const file of ['0.log', '0.log.20260101-000000.gz', '0.log.20260101-000010'])
    await createFile(node, `${logs}/${file}`);
  await node.advance('4m');
  const attempts = node.runtime.contents().containers.map(({ metadata }) => metadata?.attempt);
  expect(node.container('crash').restartCount).toBeGreaterThan(3);
  expect(attempts.length).toBeLessThanOrEqual(2);
  expect(attempts).not.toContain(0);
  expect(await listed(node, logs)).toEqual([]);
  expect(await listed(node, 'logs/containers')).toHaveLength(attempts.length);
});

test('C2: the dead containers of a completed pod remain until its terminal status is written, even if none are to be retained', async () => {
  const once = podWith('once', { restartPolicy: 'Never', containers: [containerWith('main', { command: ['true'] })] });
  const garbage = { perContainer: 0, total: Number.POSITIVE_INFINITY };
  const node = await simulatedNode({ pods: [once, crashing], config: { garbage } });
  const inTheWay = node.path('root/statelet/statuses/once-uid.json.tmp');
  await mkdir(inTheWay);
  const dead = () => node.runtime.contents().containers.map(({ labels }) => labels['io.kubernetes.pod.name']);
  const isKept = () => dead().includes('once');
  await node.advance('3m');
  expect([node.pod('once').phase, isKept()]).toEqual(['Succeeded', true]);
  expect(node.calls('removeContainer')).not.toEqual([]);
  node.killAgent();
  await rmdir(inTheWay);
  await node.startAgent();
  mkdirSync(inTheWay);
  await node.advance('3m');
  expect([node.pod('once').phase, isKept()]).toEqual(['Succeeded', true]);
  await rmdir(inTheWay);
  await node.advance('2m');
  expect(isKept()).toBe(false);
  await node.restartAgent();
  await node.advance('2m');
  expect(node.pod('once').phase).toBe('Succeeded');
  const made = node.calls('createContainer').map(({ request }) => inspect(request, { depth: 5 }));
  expect(made.filter((request) => request.includes("'once'"))).toHaveLength(1);
});

test('C23: only the last dead instance of each container is retained for a pod that waits after an agent restart', async () => {
  const node = await simulatedNode();
  await mkdir(node.path('data'));
  const volumes = [{ name: 'data', hostPath: { path: node.path('data'), type: 'Directory' as const } }];
  const volumeMounts = [{ name: 'data', mountPath: '/data' }];
  const containers = crashing.spec.containers.map((each) => ({ ...each, volumeMounts }));
  await node.apply({ ...crashing, spec: { ...crashing.spec, volumes, containers } });
  await node.advance('50s');
  const ended = () =>
    node.runtime.contents().containers.flatMap(({ state, metadata }) => (state === 2 ? [metadata?.attempt] : []));
  const last = Math.max(...ended().map(Number));
  expect(ended().length).toBeGreaterThan(1);
  node.killAgent();
  await rmdir(node.path('data'));
  await node.startAgent();
  await node.advance('90s');
  expect(node.pod('crash').containerStatuses).toMatchObject([{ state: { terminated: { exitCode: 1 } } }]);
  expect(ended()).toEqual([last]);
});

test('the leftovers of this agent from an unknown pod are removed with the logs, and those of others remain', async () => {
  const node = await simulatedNode({ pods: [podWith('web')] });
  await node.advance('5s');
  const layout = createLayout(node.facts);
  await claimPodDirectory({
    layout,
    maker: createOwnerMark(node.facts),
    pod: { uid: 'gone', namespace: 'default', name: 'gone' },
  });
  await createFile(node, 'root/pods/gone/volumes/kubernetes.io~empty-dir/data/file');
  await createFile(node, 'logs/pods/default_gone_gone/main/0.log');
  await createFile(node, 'root/pods/theirs/volumes/kubernetes.io~empty-dir/data/file');
  await createFile(node, 'logs/pods/default_theirs_theirs/main/0.log');
  const link = (name: string, target: string) => symlink(node.path(target), node.path('logs/containers', name));
  await link('dead.log', 'logs/pods/default_lost_lost/main/0.log');
  await link('theirs.log', 'logs/pods/default_theirs_theirs/main/0.log');
  await link('elsewhere.log', 'elsewhere/0.log');
  await node.advance('70s');
  expect(await listed(node, 'root/pods')).toEqual(['theirs', node.view('web').pod.metadata.uid]);
  expect(await listed(node, 'root/pods/theirs/volumes/kubernetes.io~empty-dir/data')).toEqual(['file']);
  expect((await listed(node, 'logs/pods')).map((folder) => folder.split('_')[1])).toEqual(['theirs', 'web']);
  const links = await listed(node, 'logs/containers');
  expect(links.filter((name) => !name.startsWith('web'))).toEqual(['dead.log', 'elsewhere.log', 'theirs.log']);
  expect(node.pod('web').phase).toBe('Running');
  expect(node.has('gone')).toBe(false);
  expect(node.agent.overview().foreign).toEqual([
    {
      uid: 'theirs',
      namespace: 'default',
      name: 'theirs',
      sandboxes: [],
      directory: node.path('root/pods/theirs'),
      why: "it does not have this agent's mark",
    },
  ]);
});

test('unchanged leftovers of others are recorded once', async () => {
  const node = await simulatedNode();
  for (const uid of ['one', 'two']) await createFile(node, `root/pods/${uid}/file`);
  await node.advance('5m');
  const mentions = () => JSON.stringify(node.entries).split(node.path('root/pods/one')).length - 1;
  expect([mentions(), node.agent.overview().foreign.length]).toEqual([1, 2]);
  await rm(node.path('root/pods/one'), { recursive: true });
  await node.advance('2m');
  expect([mentions(), node.agent.overview().foreign.map(({ uid }) => uid)]).toEqual([1, ['two']]);
});

test('garbage collection of an idle node sends no calls except the image detection every five minutes', async () => {
  const node = await simulatedNode({ pods: [podWith('web')] });
  await node.advance('30s');
  const before = node.runtime.calls.length;
  await node.advance('10m');
  const calls = node.runtime.calls.slice(before).map(({ call }) => call);
  const count = (name: string) => calls.filter((call) => call === name).length;
  expect(['listImages', 'imageFsInfo'].map(count)).toEqual([2, 2]);
  const others = calls.filter((call) => !['listImages', 'imageFsInfo'].includes(call));
  expect([...new Set(others)].sort()).toEqual(['listContainers', 'listPodSandbox', 'status']);
});

test('C47: after a restart, an unused image is removed by its age only once the agent has run for the maximum age', async () => {
  const node = await simulatedNode({
    runtime: { images: { present: ['example.com/unused:1'] } },
    config: { imageGarbage: { ...defaultImageGarbagePolicy, maxAgeMs: 8 * 60_000 } },
  });
  const removals = () => node.calls('removeImage').length;
  await node.advance('6m');
  await node.restartAgent();
  await node.advance('8m');
  expect(removals()).toBe(0);
  // Garbage is collected every five minutes.
  await node.advance('5m');
  expect(removals()).toBe(1);
});

test('C8: a lost sandbox is retained as long as the logs of its containers, and then removed', async () => {
  const node = await simulatedNode({ pods: [podRunning('web', 'sleep 300; exit 1')] });
  await node.advance('5s');
  const [first] = node.runtime.contents().sandboxes;
  node.runtime.killSandbox(node.sandboxId('web'));
  await node.advance('90s');
  const sandboxIds = node.runtime.contents().containers.map(({ podSandboxId }) => podSandboxId);
  expect(sandboxIds).toContain(first?.id);
  await node.advance('10m');
  expect(node.container('web').restartCount).toBeGreaterThan(1);
  expect(node.runtime.contents().sandboxes.map(({ id }) => id)).toEqual([node.sandboxId('web')]);
  expect(await readlink(node.path('logs/containers', (await listed(node, 'logs/containers'))[0] ?? ''))).toBeTruthy();
});
