/** A node without a cluster, whose pods use ConfigMaps and Secrets from files. */
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { startInlineReader } from '../../../actors/simulated/startInlineReader.ts';
import { configText, documents, podText, secretText } from '../../fakes/manifests.ts';
import { type SimulatedNode, simulatedNode } from '../../fakes/node.ts';
import { IMAGE } from '../../fakes/pods.ts';

const SECRET = 'hunter2-and-more';
const pod = podText('web', 'imagePullSecrets: [{name: pull}], ', IMAGE);

async function write(node: SimulatedNode, name: string, text: string, mode = 0o600): Promise<void> {
  const file = `${node.manifestDir}/${name}`;
  await writeFile(file, text);
  await chmod(file, mode);
  await node.advance('25s');
}

const problemsOf = (node: SimulatedNode) =>
  node.agent.overview().problems.map(({ path, message }) => `${path}: ${message}`);

/** Returns everything that the agent has on disk. */
async function onDisk(node: SimulatedNode): Promise<string> {
  const root = node.path('root', 'statelet');
  const files = await readdir(root, { recursive: true, withFileTypes: true });
  const texts = files
    .filter((each) => each.isFile())
    .map((each) => readFile(`${each.parentPath}/${each.name}`, 'utf8'));
  return (await Promise.all(texts)).join('\n');
}

const warningsOf = (node: SimulatedNode) =>
  node.agent.overview().warnings.map(({ path, message }) => `${path}: ${message}`);

const byVariable = podText('web', '', IMAGE).replace(
  'image:',
  'env: [{name: KEY, valueFrom: {secretKeyRef: {name: api, key: k}}}], image:',
);
const byVolume = podText('web', 'volumes: [{name: v, configMap: {name: api}}], ', IMAGE);

test.each([
  ['Secret', byVariable, 'spec.containers[0].env[0].valueFrom.secretKeyRef', secretText('api', 'k: v')],
  ['ConfigMap', byVolume, 'spec.volumes[0].configMap', configText('api', 'k: v')],
])('a pod whose %s is missing is shown with the searched path, and starts once the object exists', async (...row) => {
  const [kind, text, path, object] = row;
  const node = await simulatedNode({ fromFiles: true });
  await write(node, 'web.yaml', text);
  const searched = node.manifestDir;
  expect(node.pod('web-node-1').phase).toBe('Pending');
  expect(node.agent.explain('web-node-1')?.answer).toContain(
    `${kind.toLowerCase()} "api" not found in ${searched}; the pod starts as soon as the ${kind} exists`,
  );
  expect(problemsOf(node)).toEqual([]);
  expect(warningsOf(node)).toEqual([
    `${path}: ${kind} default/api is not in ${searched}; containers that need it start as soon as it exists`,
  ]);
  await write(node, 'object.yaml', object);
  expect(node.pod('web-node-1').phase).toBe('Running');
  expect(node.container('web-node-1').restartCount).toBe(0);
  expect(warningsOf(node)).toEqual([]);
});

const missing = (searched: string) => [
  `spec.imagePullSecrets[0]: Secret default/pull is not in ${searched}; the pod runs without it`,
];

test('a pod continues to run without its Secret, even across an agent restart', async () => {
  const node = await simulatedNode({ fromFiles: true });
  await write(node, 'web.yaml', documents(pod, secretText('pull', `password: ${SECRET}`)));
  expect(node.pod('web-node-1').phase).toBe('Running');
  const id = node.containerId('web-node-1');
  await node.restartAgent();
  await node.advance('25s');
  expect(warningsOf(node)).toEqual([]);
  await write(node, 'web.yaml', pod);
  expect(warningsOf(node)).toEqual(missing(node.manifestDir));
  await node.restartAgent();
  await node.advance('25s');
  expect(warningsOf(node)).toEqual(missing(node.manifestDir));
  expect(node.containerId('web-node-1')).toBe(id);
  expect(JSON.stringify(node.entries)).not.toContain(SECRET);
});

test('no Secret data is on disk or in the inputs of the actors, and a readable Secret file is reported', async () => {
  const node = await simulatedNode({ fromFiles: true });
  await write(node, 'all.yaml', documents(pod, secretText('pull', `password: ${SECRET}`)), 0o644);
  expect(node.pod('web-node-1').phase).toBe('Running');
  await write(node, 'all.yaml', documents(pod, secretText('pull', `password: ${SECRET}, more: b`)), 0o644);
  const base64 = Buffer.from(SECRET).toString('base64');
  for (const text of [await onDisk(node), JSON.stringify(node.entries), JSON.stringify(node.agent.input)]) {
    expect(text).not.toContain(SECRET);
    expect(text).not.toContain(base64);
  }
  expect(await onDisk(node)).toContain('web-node-1');
  expect(node.manifestProblems).toEqual([
    ': contains a Secret and has mode 0644, so that others may read it; use mode 0600',
  ]);
});

const isObjectsFact = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'type' in value && value.type === 'cluster.objectsChanged';

test('a changed object notifies only the pods that reference it', async () => {
  const node = await simulatedNode({ fromFiles: true });
  await write(node, 'all.yaml', documents(pod, secretText('pull', 'k: a'), configText('c', 'k: a')));
  const objectFacts = () => node.entries.map(({ value }) => value).filter(isObjectsFact);
  const before = objectFacts().length;
  await write(node, 'all.yaml', documents(pod, secretText('pull', 'k: a'), configText('c', 'k: b')));
  expect(objectFacts()).toHaveLength(before);
  await write(node, 'all.yaml', documents(configText('c', 'k: b'), secretText('pull', 'k: b'), pod));
  const { uid } = node.view('web-node-1').pod.metadata;
  expect(objectFacts().slice(before)).toEqual([{ type: 'cluster.objectsChanged', uids: [uid] }]);
});

test('one broken document of forty affects neither the other pods nor the last good version of its own', async () => {
  const node = await simulatedNode({ fromFiles: true, parts: { startThread: startInlineReader } });
  await mkdir(node.manifestDir, { recursive: true });
  const all = (broken: string) =>
    documents(...Array.from({ length: 40 }, (_, index) => (index === 7 ? broken : podText(`p${index}`, '', IMAGE))));
  await write(node, 'all.yaml', all(podText('p7', '', IMAGE)));
  const id = node.containerId('p7-node-1');
  await write(node, 'all.yaml', all('a: [\n').replace(`{name: p9}, `, '{name: new}, '));
  expect(problemsOf(node)).toEqual([expect.stringMatching(/^documents\[7\]: .* at line /)]);
  expect(node.containerId('p7-node-1')).toBe(id);
  expect(node.pod('new-node-1').phase).toBe('Running');
  expect(node.agent.pods()).toHaveLength(41);
});

test('a pod reads its volume and variables from objects in its file, and the volume is updated in place', async () => {
  const node = await simulatedNode({ fromFiles: true });
  const env = 'env: [{name: MODE, valueFrom: {configMapKeyRef: {name: app, key: mode}}}], ';
  const showing = podText('web', 'volumes: [{name: v, configMap: {name: app}}], ', IMAGE).replace(
    'image:',
    `${env}image:`,
  );
  await write(node, 'all.yaml', documents(showing, configText('app', 'mode: slow')));
  const id = node.containerId('web-node-1');
  const { uid } = node.view('web-node-1').pod.metadata;
  const mode = () => readFile(node.path('root', 'pods', uid, 'volumes/kubernetes.io~configmap/v/mode'), 'utf8');
  expect(await mode()).toBe('slow');
  expect(node.runtime.contents().containers).toHaveLength(1);
  await write(node, 'all.yaml', documents(showing, configText('app', 'mode: fast')));
  expect(await mode()).toBe('fast');
  expect(node.containerId('web-node-1')).toBe(id);
  // The content of the volume is not removed with the object either.
  await write(node, 'all.yaml', showing);
  expect(await mode()).toBe('fast');
  expect(warningsOf(node)).toHaveLength(2);
  expect(node.containerId('web-node-1')).toBe(id);
  await write(node, 'all.yaml', documents(configText('app', 'mode: last'), showing));
  expect(await mode()).toBe('last');
  expect(node.container('web-node-1').restartCount).toBe(0);
});

describe('objects from files of a running pod', () => {
  const showing = podText('web', 'volumes: [{name: v, configMap: {name: app}}], ', IMAGE).replace(
    'image:',
    'env: [{name: K, valueFrom: {secretKeyRef: {name: app, key: password}}}], image:',
  );
  const objects = documents(secretText('app', `password: ${SECRET}`), configText('app', 'mode: slow'));
  let memory = '';
  beforeEach(async () => {
    // /dev/shm is in memory on every host.
    memory = await mkdtemp('/dev/shm/statelet-kept-');
  });
  afterEach(() => rm(memory, { recursive: true }));

  async function running() {
    const node = await simulatedNode({ fromFiles: true, parts: { objectCachePrefix: join(memory, 'objects') } });
    await write(node, 'web.yaml', showing);
    await write(node, 'objects.yaml', objects);
    expect(node.pod('web-node-1').phase).toBe('Running');
    return node;
  }
  const persistedCount = async () => (await readdir(join(memory, 'objects-file'))).length;
  /** Changes the file while no agent is running. */
  async function meanwhile(node: SimulatedNode, act: (file: string) => Promise<unknown>): Promise<void> {
    node.killAgent();
    await node.clock.advance(0);
    await act(join(node.manifestDir, 'objects.yaml'));
    await node.startAgent();
    await node.advance('25s');
  }
  /** Lets the container exit. It has to be recreated from the objects that its pod has. */
  async function crash(node: SimulatedNode): Promise<void> {
    node.runtime.exitContainer(node.containerId('web-node-1').replace(/^.*:\/\//, ''), 1);
    await node.advance('60s');
  }

  test.each([
    ['is broken', (file: string) => writeFile(file, 'kind: Secret\nmetadata: [\n')],
    [
      'has a mistake in each',
      (file: string) => writeFile(file, objects.replaceAll(/(password|mode): [\w-]+/g, '$1: [1]')),
    ],
    ['cannot be read', (file: string) => unlink(file).then(() => symlink(file, file))],
  ])('survive an agent restart in memory, even if their file %s meanwhile', async (_, spoil) => {
    const node = await running();
    expect(await persistedCount()).toBe(2);
    await meanwhile(node, spoil);
    expect(problemsOf(node).length).toBeGreaterThan(0);
    await crash(node);
    expect(node.container('web-node-1')).toMatchObject({ restartCount: 1, state: { running: {} } });
    expect(await persistedCount()).toBe(2);
    await unlink(join(node.manifestDir, 'objects.yaml'));
    await write(node, 'objects.yaml', objects);
    expect(problemsOf(node)).toEqual([]);
    expect(JSON.stringify(node.entries)).not.toContain(SECRET);
    expect(await onDisk(node)).not.toContain(SECRET);
  });

  test('do not survive an agent restart if they were removed from their file', async () => {
    const node = await running();
    await meanwhile(node, (file) => writeFile(file, configText('app', 'mode: slow')));
    await crash(node);
    expect(node.container('web-node-1').state).toMatchObject({ waiting: { reason: 'CreateContainerConfigError' } });
    expect(await persistedCount()).toBe(1);
  });

  test('are deleted with the pod, and nothing is left after the agent has stopped', async () => {
    const node = await running();
    await unlink(join(node.manifestDir, 'web.yaml'));
    await node.advance('120s');
    expect(node.has('web-node-1')).toBe(false);
    expect(await persistedCount()).toBe(0);
    await node.agent.stop();
    expect(await readdir(memory)).toEqual([]);
  });

  test('remain when the agent stops while the pod runs', async () => {
    const node = await running();
    await node.agent.stop();
    expect(await persistedCount()).toBe(2);
  });
});
