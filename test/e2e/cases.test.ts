/** Manifests found in the wild, run as real pods. Each value means the same as to the kubelet. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { nodeForAllTests } from './support/forAllTests.ts';
import { containerOf, upNode } from './support/node.ts';

const node = await nodeForAllTests(upNode);
const write = async (name: string) =>
  node.write(name, await readFile(join(import.meta.dirname, 'cases', `${name}.yaml`), 'utf8'));

test('empty strings, zeros and nulls in a manifest result in the defaults of their fields', async () => {
  await write('empty-values');
  const empty = await node.until('is ready', 'empty', (pod) => containerOf(pod).ready && pod);
  expect(empty.metadata).toMatchObject({ namespace: 'default', labels: { empty: '', quoted: '' } });
  expect(empty.spec).toMatchObject({ restartPolicy: 'Always', dnsPolicy: 'ClusterFirst' });
  expect(empty.spec.containers[0]).toMatchObject({
    imagePullPolicy: 'IfNotPresent',
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    ports: [{ containerPort: 8080, protocol: 'TCP' }],
    livenessProbe: { httpGet: { scheme: 'HTTP' }, timeoutSeconds: 1, periodSeconds: 10, failureThreshold: 3 },
    readinessProbe: { timeoutSeconds: 1, periodSeconds: 2, failureThreshold: 3 },
  });
  expect(await node.log(empty, 'main', 'started')).toEqual(['empty=""', 'quoted=""']);
  for (const name of ['null-selector', 'empty-selector']) {
    const { status } = await node.until('is rejected', name, (pod) => pod.status?.phase === 'Failed' && pod);
    expect(status?.reason).toBe('NodeAffinity');
  }
  const nulls = await node.until('ends', 'nulls', (pod) => pod.status?.phase === 'Succeeded' && pod);
  expect(nulls.metadata.labels).toEqual({ a: '', b: '' });
  expect(await node.log(nulls, 'main', 'done')).toEqual(['A=', 'B=', '<a>', '<>', '<>', 'empty', 'full']);
});

test('plain scalars and unindented lines are read as by a kubelet, and duplicate keys reject only their document', async () => {
  const file = await write('scalars');
  const texts = await node.until('ends', 'texts', (pod) => pod.status?.phase === 'Succeeded' && pod);
  expect(texts.metadata.labels).toEqual({ rack: 'e1' });
  const lines = ['/tmp', '22:22 12:30:45 2024-01-01 e1', '.', 'e1', 'k', '400'];
  expect(await node.log(texts, 'e2', 'done')).toEqual(lines);
  const flow = await node.until('ends', 'flow', (pod) => pod.status?.phase === 'Succeeded' && pod);
  expect(flow.metadata.annotations?.cfg).toBe('{ "x": 1 }');
  await node.log(flow, 'main', 'a done');
  const dash = await node.until('ends', 'dash', (pod) => pod.status?.phase === 'Succeeded' && pod);
  await node.log(dash, 'main', '-');
  await node.agent.says(new RegExp(`${file}: .*labels`));
  expect((await node.pods()).some(({ metadata }) => metadata.name === 'repeated-node')).toBe(false);
});

test('zeros in probes mean the defaults, and HTTP probes send the requests of Go', async () => {
  await write('probes');
  const probed = await node.until('is probed', 'probed', (pod) => {
    const ready = ['passing', 'redirecting', 'slashes'].every((name) => containerOf(pod, name).ready);
    return ready && containerOf(pod, 'failing').restartCount > 0 && pod;
  });
  expect(containerOf(probed, 'slow').ready).toBe(false);
});
