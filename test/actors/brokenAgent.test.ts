import { describe, expect, test } from '@jest/globals';
import type { NodeFact } from '../../machines/shared/events/events.ts';
import { simulatedNode } from '../fakes/node.ts';
import { podWith } from '../fakes/pods.ts';

const broken = () => {
  throw new Error('no timer');
};

describe('a node agent', () => {
  const end = (feed: string, why: string) => `nodeAgent: NodeFailure: ${feed} of the node agent failed: ${why}`;

  test.each(['pleg', 'runtimeHealth', 'ticker'] as const)(
    'stops if the essential feed %s fails, and leaves its pods running',
    async (feed) => {
      const node = await simulatedNode({ pods: [podWith('web')] });
      await node.advance('3s');
      for (const [ends, told] of [
        [broken, [`${feed}: Error: no timer`, end(feed, 'no timer')]],
        [async () => broken(), [`${feed}: Error: no timer`, end(feed, 'no timer')]],
        [async () => {}, [end(feed, 'it has returned')]],
      ] as const) {
        node.errors.length = 0;
        node.withParts({ feeds: { [feed]: ends } });
        await node.restartAgent();
        await node.advance('3s');
        expect(node.errors).toEqual(told);
        expect(node.runtime.contents().containers).toMatchObject([{ state: 1 }]);
      }
    },
  );

  test.each([
    ['at once', broken],
    ['later', async () => broken()],
  ])('continues without a feed that fails %s, and shows the feed as broken in explain node', async (_, addresses) => {
    const node = await simulatedNode({ pods: [podWith('web')], parts: { feeds: { addresses } } });
    await node.advance('3s');
    expect(node.errors).toEqual(['addresses: Error: no timer']);
    expect(node.pod('web').phase).toBe('Running');
    const explanation = node.agent.explainNode();
    expect(explanation.answer).toBe('node node-1 is running 1 pod; addresses is broken: no timer');
    expect(explanation.node.children.find(({ name }) => name === 'addresses')).toMatchObject({
      state: 'broken',
      tags: ['broken'],
      waitingFor: 'a restart of the agent',
      lastFailure: { message: 'no timer' },
    });
  });

  test('shows a feed that has returned without an error as steady', async () => {
    const node = await simulatedNode({ pods: [podWith('web')], parts: { feeds: { addresses: async () => {} } } });
    await node.advance('3s');
    const shown = node.agent.explainNode().node.children.find(({ name }) => name === 'addresses');
    expect(shown).toMatchObject({ state: 'active', tags: ['steady'] });
  });

  test('fails if a part that it requires fails, and its containers continue to run', async () => {
    const node = await simulatedNode({ pods: [podWith('web')] });
    await node.advance('3s');
    // The event that XState sends when a child has failed.
    node.agent.send({ type: 'xstate.error.actor.admission', actorId: 'admission', error: new Error('lost') } as never);
    await node.advance('3s');
    expect(node.errors).toEqual(['nodeAgent: NodeFailure: admission of the node agent failed: lost']);
    expect(node.runtime.contents().containers).toMatchObject([{ state: 1 }]);
  });

  test('reports an error in its own machine, and its containers continue to run', async () => {
    const node = await simulatedNode({ pods: [podWith('web')] });
    await node.advance('3s');
    // No feed sends this invalid fact. It stands for any input that makes the machine throw.
    node.agent.send({ type: 'runtime.podsObserved' } as NodeFact);
    await node.advance('3s');
    expect(node.errors).toEqual([expect.stringMatching(/^nodeAgent: TypeError/)]);
    expect(node.runtime.contents().containers).toMatchObject([{ state: 1 }]);
  });
});
