import { readdir } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { createRedaction } from '../../actors/redaction.ts';
import { createReplay } from '../../actors/replay.ts';
import { simulatedNode } from '../fakes/node.ts';
import { containerWith, podWith } from '../fakes/pods.ts';

const SECRET = 'hunter2';
const httpGet = { path: '/', port: 80, httpHeaders: [{ name: 'Authorization', value: `Bearer ${SECRET}` }] };
const secretive = (suffix = '') =>
  podWith('web', {
    containers: [
      containerWith('main', {
        env: [{ name: 'PASSWORD', value: SECRET + suffix }],
        livenessProbe: { httpGet },
        lifecycle: { preStop: { httpGet } },
      }),
    ],
  });

test('a value that may be secret has no way into a recording, a keyframe, explain, the log or the names of files', async () => {
  const pod = secretive();
  const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify(pod) };
  const node = await simulatedNode({ pods: [{ ...pod, metadata: { ...pod.metadata, annotations } }] });
  await node.advance('30s');
  const keyframe = node.agent.keyframe();
  const cut = node.entries.length;
  node.apply(secretive('-changed'));
  await node.advance('10s');
  await node.restartAgent();
  await node.advance('10s');
  const files = await readdir(node.path(), { recursive: true });
  const explained = [node.agent.explain('web'), node.agent.explainNode()];
  expect(cut).toBeGreaterThan(10);
  for (const shown of [node.entries, keyframe, explained, node.errors, files]) {
    expect(JSON.stringify(shown)).not.toContain(SECRET);
  }
  expect(JSON.stringify(node.agent.views())).toContain(SECRET);
});

test('a recording without its secrets replays to the same states', async () => {
  const node = await simulatedNode({ pods: [secretive()] });
  await node.advance('5s');
  node.apply(secretive('-changed'));
  await node.advance('10s');
  const { agent, play } = createReplay(node.agent.input, node.entries);
  expect(await play()).toEqual([]);
  expect(agent.pods().map(({ status }) => status)).toEqual(node.agent.pods().map(({ status }) => status));
  agent.stop();
});

test('equal values stay equal and others differ, under a key of each recording', () => {
  const of = (value: string) => ({ env: [{ name: 'A', value }] });
  const [redact, other] = [createRedaction(), createRedaction()];
  expect(redact(of('a'))).toEqual(redact(of('a')));
  expect(redact(of('a'))).not.toEqual(redact(of('b')));
  expect(redact(of('a'))).not.toEqual(other(of('a')));
  expect(redact(of(''))).toEqual(of(''));
});
