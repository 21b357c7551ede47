/** Variables that no runtime accepts: the container waits for a change instead of being created repeatedly. */
import { chmod, writeFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import type { EventSink } from '../../actors/events/eventSink.ts';
import { podText } from '../fakes/manifests.ts';
import { type SimulatedNode, simulatedNode } from '../fakes/node.ts';
import { IMAGE } from '../fakes/pods.ts';

/** Variables each of which contains the previous one twice. */
const doubling = Array.from({ length: 25 }, (_, index) => `{name: V${index + 1}, value: $(V${index})$(V${index})}`);

const withVariables = (variables: readonly string[]): string =>
  podText('web', '', IMAGE).replace('image:', `env: [${variables.join(', ')}], image:`);

async function write(node: SimulatedNode, name: string, text: string): Promise<void> {
  const file = `${node.manifestDir}/${name}`;
  await writeFile(file, text);
  await chmod(file, 0o600);
  await node.advance('25s');
}

async function largeNode() {
  const failures: string[] = [];
  const events: EventSink = ({ reason, message }) => void (reason === 'Failed' && failures.push(message));
  return { failures, node: await simulatedNode({ fromFiles: true, parts: { events } }) };
}

test('C21: variables that double in size fail once, and the pod says what it waits for', async () => {
  const { node, failures } = await largeNode();
  await write(node, 'web.yaml', withVariables(['{name: V0, value: x}', ...doubling]));
  await node.advance('10m');
  expect(failures).toEqual([expect.stringMatching(/^Error: env\[24\]\.value: the values up to here are longer than/)]);
  expect(node.container('web-node-1').state?.waiting).toMatchObject({ reason: 'CreateContainerConfigError' });
  const { answer } = node.agent.explain('web-node-1') ?? {};
  expect(answer).toContain('waiting for a change of its spec or of the objects of its variables');
  expect(answer).toContain('env[24].value: the values up to here');
  expect(answer).not.toContain('next attempt');
});

test('C21: a shorter value in a ConfigMap lets the container start at once', async () => {
  const { node, failures } = await largeNode();
  const config = (data: string) =>
    `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {start: "${data}"}\n`;
  await write(node, 'settings.yaml', config('x'.repeat(2_000)));
  const fromObject = `{name: V0, valueFrom: {configMapKeyRef: {name: settings, key: start}}}`;
  await write(node, 'web.yaml', withVariables([fromObject, ...doubling.slice(0, 16)]));
  await node.advance('10m');
  expect(failures).toHaveLength(1);
  await write(node, 'settings.yaml', config('x'));
  expect(node.pod('web-node-1').phase).toBe('Running');
  expect(failures).toHaveLength(1);
});
