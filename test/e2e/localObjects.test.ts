/**
 * Real containers of a node without a cluster: a ConfigMap and a Secret from a file, and how changes of the file reach
 * the containers.
 */
import { chmod, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { root } from '../support/root.ts';
import { eventually } from './support/eventually.ts';
import { nodeForAllTests } from './support/forAllTests.ts';
import { allRun, identitiesOf, runNode, upNode } from './support/node.ts';

const node = await nodeForAllTests(upNode);
const lasting = await nodeForAllTests(runNode);
const example = await readFile(join(root, 'examples/standalone/notes.yaml'), 'utf8');
const PASSWORD = 'only-an-example';

test('the example runs, is updated in place with its file, and no Secret data is on disk', async () => {
  const file = await node.write('notes', example);
  await chmod(file, 0o600);
  const pod = await node.running('notes');
  expect(await node.log(pod, 'app', 'Hello from a file!')).toEqual([
    `the theme is dark, the password has ${PASSWORD.length} letters`,
  ]);
  await node.write('notes', example.replace('Hello from', 'Greetings of'));
  const lines = await node.log(pod, 'app', 'Greetings of a file!');
  expect(lines.filter((line) => line.startsWith('the theme'))).toHaveLength(1);
  const after = await node.running('notes');
  expect(after.metadata.uid).toBe(pod.metadata.uid);
  expect(after.status?.containerStatuses?.[0]?.restartCount).toBe(0);
  const folder = join(node.rootDir, 'statelet/manifests');
  const files = (await readdir(folder)).map((name) => readFile(join(folder, name), 'utf8'));
  const stored = (await Promise.all(files)).join();
  expect(stored).toContain('notes-node');
  expect(stored).not.toContain(PASSWORD);
});

test('a pod with a missing object waits and names the searched path, and an unsupported kind gets a suggestion', async () => {
  const pod = example.slice(example.lastIndexOf('---') + 4).replaceAll('notes', 'late');
  await node.write('late', `${pod}---\napiVersion: v1\nkind: Service\nmetadata:\n  name: late\n`);
  const report = await eventually('both are told', async () => {
    const nodeState = JSON.stringify(await node.ask('/node'));
    return nodeState.includes(`ConfigMap default/late is not in ${node.manifests}`) && nodeState;
  });
  expect(report).toContain('nothing is done here with a Service');
  await node.write('objects', example.slice(0, example.lastIndexOf('---')).replaceAll('notes', 'late'));
  const { metadata } = await node.running('late');
  expect(metadata.name).toBe('late-node');
});

test('a pod continues to run across an agent restart, although the file of its objects has become invalid', async () => {
  const at = example.lastIndexOf('---');
  await chmod(await lasting.write('objects', example.slice(0, at)), 0o600);
  await lasting.write('notes', example.slice(at + '---\n'.length));
  const before = await lasting.running('notes');
  lasting.agent.kill('SIGKILL');
  await lasting.agent.ended;
  await lasting.write('objects', 'kind: Secret\nmetadata: [\n');
  await lasting.start();
  await eventually('the file is told to be broken', async () =>
    JSON.stringify(await lasting.ask('/node')).includes('objects.yaml'),
  );
  const after = await lasting.until('runs on', 'notes', (pod) => allRun(pod) && pod);
  expect(identitiesOf(after)).toEqual(identitiesOf(before));
  expect(after.status?.conditions).toContainEqual(expect.objectContaining({ type: 'Ready', status: 'True' }));
  // Without removal of the pod, the tmpfs of its Secret would stay mounted.
  await lasting.remove('notes');
  await lasting.gone('notes');
});
