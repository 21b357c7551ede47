import { describe, expect, test } from '@jest/globals';
import type { NodeStore } from '../../actors/store/durableFacts.ts';
import { type SimulatedNodeOptions, simulatedNode } from '../fakes/node.ts';
import { podWith } from '../fakes/pods.ts';

const fail = () => {
  throw new Error('full');
};

/** Starts a node that runs a pod while one of its observers always throws. */
async function watchedNode(options: SimulatedNodeOptions = {}) {
  const node = await simulatedNode({ pods: [podWith('web')], ...options });
  await node.advance('3s');
  return node;
}

describe('an observer that throws changes nothing, and its error is reported', () => {
  test.each([
    ['recorder', { parts: { onInput: fail } }],
    ['inspect', { parts: { inspect: fail } }],
    ['statuses', { store: (real: NodeStore) => ({ ...real, write: fail }) }],
    ['events', { parts: { events: fail } }],
  ] as const)('%s', async (name, options) => {
    const node = await watchedNode(options);
    expect(node.container('web')).toMatchObject({ ready: true, restartCount: 0 });
    expect(node.calls('runPodSandbox', 'createContainer', 'startContainer')).toHaveLength(3);
    expect(new Set(node.errors)).toEqual(new Set([`${name}: Error: full`]));
  });

  test('subscriber', async () => {
    const node = await watchedNode();
    const notifiedPods: (string | undefined)[] = [];
    node.agent.subscribe(fail);
    node.agent.subscribe(({ pod }) => void notifiedPods.push(pod.metadata.name));
    node.apply(podWith('late'));
    await node.advance('3s');
    expect(node.pod('late').phase).toBe('Running');
    expect(notifiedPods).toContain('late');
    expect(new Set(node.errors)).toEqual(new Set(['subscriber: Error: full']));
  });
});
