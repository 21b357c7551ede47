import { describe, expect, test } from '@jest/globals';
import type { ActorNode, NodeView } from '../../../show/actors/actorNode.ts';
import { explainNode, withUnwrittenFiles } from '../../../show/explain/explainNode.ts';
import { formatNodeExplanation } from '../../../show/explain/formatExplanation.ts';
import { NOW, nodeActor, nodeActors, nodeView } from '../../kubernetes/views.ts';

const answer = (tree: Partial<ActorNode>, more: Partial<NodeView>) =>
  explainNode(nodeView('host', tree, more), NOW).answer;
const { start, pull, admission, garbage, logRotation } = nodeActors;
const { runtime } = nodeView();
const draining = { state: 'draining', tags: ['working', 'ending'] };

describe('the answer is the condition that all pods wait for', () => {
  test.each<[string, Partial<ActorNode>, Partial<NodeView>]>([
    ['node host is running 0 pods', {}, {}],
    [
      'node host is running 1 pod; 2 in the start queue',
      { children: [{ ...start, lists: { queued: ['a/:sandbox/start', 'a/main/start'] } }, pull] },
      { pods: { a: 'default/web' } },
    ],
    [
      'node host is running 1 pod; 2 more have ended or been rejected',
      {},
      { pods: { a: 'default/web', b: 'default/once', c: 'default/big' }, ended: 2 },
    ],
    [
      'node host is running 0 pods; its lease cannot be renewed, so its cluster will take it for dead: ECONNREFUSED',
      {
        children: [
          { ...garbage, kind: 'lease', lastFailure: { reason: 'InternalError', message: 'ECONNREFUSED', at: NOW } },
        ],
      },
      {},
    ],
    ['node host is draining: 1 pod terminating', draining, { pods: { a: 'default/web' } }],
    [
      'node host is draining: 2 pods terminating, up to 57s; the container runtime is not ready: no such socket',
      { ...draining, until: NOW + 57_000 },
      {
        pods: { a: 'default/web', b: 'default/db' },
        runtime: { ...runtime, ready: false, message: 'no such socket' },
      },
    ],
    [
      'node host is waiting for the container runtime, which is not ready: no such socket',
      { waitingFor: 'the first list' },
      { runtime: { ...runtime, ready: false, message: 'no such socket' } },
    ],
    [
      'node host is running, but its pods are waiting for the network: cni plugin not initialized',
      {},
      { runtime: { ...runtime, networkNotReady: 'cni plugin not initialized' } },
    ],
  ])('%s', (words, tree, more) => expect(answer(tree, more)).toBe(words));
});

test('each actor of the node is shown with its slot owners, its queue and its last failure', () => {
  const pods = { a: 'default/web', b: 'shop/db', c: 'default/late' };
  const lastFailure = { reason: 'RuntimeUnavailable', message: 'no such socket', at: NOW - 12_000 } as const;
  const children = [
    nodeActors.runtime,
    {
      ...admission,
      facts: ['2 admitted'],
      lists: { queued: ['default/late'], 'updates without room': ['shop/db'] },
    },
    {
      ...start,
      state: 'full',
      facts: ['1 of 1 held'],
      lists: { 'held by': ['a/main/start'], queued: ['b/:sandbox/start', 'gone/x/start'] },
    },
    { ...pull, lists: { 'held by': [], queued: [] } },
    { ...garbage, lastFailure, children: [nodeActor('removeGarbage', { kind: 'call' })] },
    { ...logRotation, state: 'rotating', since: NOW },
  ];
  const view = nodeView('host', { children }, { pods });
  const explanation = explainNode(view, NOW);
  expect(`\n${formatNodeExplanation(explanation)}`).toBe(`
node host                                                           12:02:56 UTC

  node host is running 3 pods; 2 in the start queue

node host              running   60s
├─ runtime containerd  ready     65s    v1.6.20
├─ admission           open      60s    2 admitted
│    queued: default/late
│    updates without room: shop/db
├─ limiter start       full      60s    1 of 1 held
│    held by: default/web (main)
│    queued: shop/db (sandbox), gone (x)
├─ limiter pull        open      60s    0 of 1 held
├─ garbage collection  waiting   60s
│    waiting for the next garbage collection until 12:02:59 (in 3s)
│    last failure, 12s ago: RuntimeUnavailable: no such socket
└─ log rotation        rotating  0s
     waiting for the next check of log sizes until 12:02:57 (in 1s)
`);
  expect(explanation.node.children[2]).toMatchObject({
    kind: 'limiter',
    name: 'start',
    lists: { 'held by': ['default/web (main)'], queued: ['shop/db (sandbox)', 'gone (x)'] },
  });
});

test('foreign pods are listed with their leftovers and the reason why they are left alone', () => {
  const foreign = [
    {
      uid: 'u7',
      namespace: 'kube-system',
      name: 'etcd',
      sandboxes: ['s1', 's2'],
      directory: '/var/lib/kubelet/pods/u7',
      why: "it does not have this agent's mark",
    },
    {
      uid: 'u8',
      namespace: 'unknown',
      name: 'u8',
      sandboxes: [],
      directory: '/var/lib/kubelet/pods/u8',
      why: 'it is a symbolic link',
    },
  ];
  const text = formatNodeExplanation(explainNode(nodeView('host', {}, { foreign }), NOW));
  expect(text.split('\n').slice(3, 9)).toEqual([
    '',
    '  2 pods that this agent did not create, left alone:',
    '    kube-system/etcd (u7): /var/lib/kubelet/pods/u7 and 2 sandboxes; it does not',
    "    have this agent's mark",
    '    u8: /var/lib/kubelet/pods/u8; it is a symbolic link',
    '',
  ]);
});

test('state files that cannot be written are shown with their count, the reason and the next attempt', () => {
  const failure = { reason: 'StoreFailed', message: 'ENOSPC: no space left on device', at: NOW - 2_000 } as const;
  const trouble = { factCount: 2, lastFailure: failure, failingSince: NOW - 60_000, nextRetryAt: NOW + 3_000 };
  const explanation = explainNode(nodeView('host'), NOW);
  expect(withUnwrittenFiles(explanation, undefined)).toBe(explanation);
  const lines = formatNodeExplanation(withUnwrittenFiles(explanation, trouble)).trimEnd().split('\n');
  expect(lines.slice(lines.findIndex((line) => line.includes('store')))).toEqual([
    '└─ store               retrying  60s    2 files not written',
    '     waiting for the disk until 12:02:59 (in 3s)',
    '     last failure, 2s ago: StoreFailed: ENOSPC: no space left on device',
  ]);
});
