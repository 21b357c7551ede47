import { expect, test } from '@jest/globals';
import { createDetail } from '../../inspect/detail.ts';
import { explainNode } from '../../show/explain/explainNode.ts';
import { explainPart } from '../../show/explain/explainPart.ts';
import { explainPod } from '../../show/explain.ts';
import { backOff, NOW, nodeView, podView, run, seenPod, volumeView } from '../kubernetes/views.ts';

test('an actor that does not wait is explained by its condition, not by its state name', () => {
  const node = explainNode(nodeView(), NOW);
  const sink = {
    ...node.node,
    machine: 'statusSink',
    kind: 'statusSink',
    name: 'api',
    path: 'statusSink/api',
    children: [],
  };
  const idle = { ...sink, state: 'idle', tags: ['steady'] };
  const { answer } = createDetail({
    path: idle.path,
    at: NOW,
    events: [],
    node: { ...node, node: { ...node.node, children: [idle] } },
    tree: undefined,
  });
  expect(answer).toBe('status sink api is in order');
});

test('a container killed by SIGKILL is described as such, without the reason Error', () => {
  const killed = {
    state: 'ended.backingOff',
    lastRun: run(137, { finishedAt: NOW - 58_000 }),
    waitingFor: 'the back-off',
    until: NOW + 4_000,
  };
  const seen = seenPod(podView({ main: { app: backOff(137, killed) } }));
  const { answer } = createDetail({
    path: seen.tree.children[0]?.path ?? '',
    at: NOW,
    events: [],
    explanation: explainPod(seen, NOW),
    node: explainNode(nodeView(), NOW),
    tree: seen.tree,
  });
  expect(answer).toBe(
    'container app is waiting for the back-off until 12:03:00; its last run: killed (SIGKILL) after 2s',
  );
});

test('a volume has a separate headline with its failure and the next attempt', () => {
  const failing = volumeView('data', {
    state: 'awaitingRetry',
    tags: ['retrying'],
    mounted: false,
    waitingFor: 'the back-off',
    until: NOW + 4_000,
    lastFailure: { reason: 'FailedMount', message: 'no such Secret', at: NOW - 1_000 },
  });
  const seen = seenPod(
    podView({ main: {}, spec: { volumes: [{ name: 'data', emptyDir: {} }] }, view: { volumes: [failing] } }),
  );
  const { answer } = createDetail({
    path: failing.path,
    at: NOW,
    events: [],
    explanation: explainPod(seen, NOW),
    part: explainPart(seen, { kind: 'volume', name: 'data' }, NOW),
    node: explainNode(nodeView(), NOW),
    tree: seen.tree,
  });
  expect(answer).toBe('volume data is not mounted: FailedMount: no such Secret; next attempt at 12:03:00 (in 4s)');
});
