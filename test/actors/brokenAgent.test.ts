import { describe, expect, test } from '@jest/globals';
import type { NodeFact } from '../../machines/shared/events/events.ts';
import { simulatedNode } from '../fakes/node.ts';
import { podWith } from '../fakes/pods.ts';

const broken = () => {
  throw new Error('no timer');
};

describe('what must never fail is told when it does', () => {
  const end = (feed: string, why: string) => `nodeAgent: NodeFailure: ${feed} of the node agent failed: ${why}`;

  test.each(['pleg', 'runtimeHealth', 'ticker'] as const)(
    'the feed %s, which the agent cannot do without: it ends, and its pods go on running',
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
  ])('any other feed that fails %s: the agent goes on without it, and explain node says so', async (_, addresses) => {
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

  test('a feed that has told all there is has done its part', async () => {
    const node = await simulatedNode({ pods: [podWith('web')], parts: { feeds: { addresses: async () => {} } } });
    await node.advance('3s');
    const shown = node.agent.explainNode().node.children.find(({ name }) => name === 'addresses');
    expect(shown).toMatchObject({ state: 'active', tags: ['steady'] });
  });

  test('a part that the agent cannot do without: it ends', async () => {
    const node = await simulatedNode({ pods: [podWith('web')] });
    await node.advance('3s');
    // What xstate tells of a child that failed.
    node.agent.send({ type: 'xstate.error.actor.admission', actorId: 'admission', error: new Error('lost') } as never);
    await node.advance('3s');
    expect(node.errors).toEqual(['nodeAgent: NodeFailure: admission of the node agent failed: lost']);
    expect(node.runtime.contents().containers).toMatchObject([{ state: 1 }]);
  });

  test('the agent itself, whose pods go on running', async () => {
    const node = await simulatedNode({ pods: [podWith('web')] });
    await node.advance('3s');
    // Not a fact that any feed sends: it stands for whatever the machine cannot bear.
    node.agent.send({ type: 'runtime.podsObserved' } as NodeFact);
    await node.advance('3s');
    expect(node.errors).toEqual([expect.stringMatching(/^nodeAgent: TypeError/)]);
    expect(node.runtime.contents().containers).toMatchObject([{ state: 1 }]);
  });
});
