import { expect, test } from '@jest/globals';
import { facts } from '../../../machines/node/facts.ts';
import { nodeStory } from '../support/nodeStory.ts';

test('a runtime that has not responded yet is awaited since the start of the node, and then shown by its report', () => {
  const story = nodeStory();
  const runtime = () => {
    const snapshot = { context: story.context(), children: {}, hasTag: () => false };
    return facts({ id: 'nodeAgent', since: 500, snapshot, getStateSince: () => 0 }).feedViews?.runtimeHealth;
  };
  expect(runtime()).toMatchObject([
    {
      kind: 'runtime',
      name: 'unknown',
      state: 'not ready',
      tags: ['retrying'],
      since: 500,
      facts: [],
      waitingFor: 'it to be ready: it has not responded yet',
    },
  ]);
  story.ports.advance(2_000);
  story.list();
  const [answered] = runtime() ?? [];
  expect(answered).toMatchObject({
    name: 'fake',
    state: 'ready',
    tags: ['steady'],
    since: story.ports.now,
    facts: ['1'],
  });
  expect(answered).not.toHaveProperty('waitingFor');
});
