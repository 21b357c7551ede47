import { describe, expect, test } from '@jest/globals';
import type { NodeFact } from '../../machines/shared/events.ts';
import { simulatedNode } from '../fakes/node.ts';
import { podWith } from '../fakes/pods.ts';

const broken = () => {
  throw new Error('no timer');
};

describe('what must never fail is told when it does', () => {
  test.each([
    ['at once', broken],
    ['later', async () => broken()],
  ])('a feed that fails %s', async (_, ticker) => {
    const node = await simulatedNode({ pods: [podWith('web')], parts: { feeds: { ticker } } });
    await node.advance('3s');
    expect(node.errors).toEqual(['ticker: Error: no timer']);
    expect(node.pod('web').phase).toBe('Running');
  });

  test('a part that the agent cannot do without: it ends', async () => {
    const node = await simulatedNode({ pods: [podWith('web')] });
    await node.advance('3s');
    // What xstate tells of a child that failed.
    node.agent.tell({ type: 'xstate.error.actor.admission', actorId: 'admission', error: new Error('lost') } as never);
    await node.advance('3s');
    expect(node.errors).toEqual(['nodeAgent: NodeFailure: admission of the node agent failed: lost']);
    expect(node.runtime.contents().containers).toMatchObject([{ state: 1 }]);
  });

  test('the agent itself, whose pods go on running', async () => {
    const node = await simulatedNode({ pods: [podWith('web')] });
    await node.advance('3s');
    // Not a fact that any feed sends: it stands for whatever the machine cannot bear.
    node.agent.tell({ type: 'runtime.podsObserved' } as NodeFact);
    await node.advance('3s');
    expect(node.errors).toEqual([expect.stringMatching(/^nodeAgent: TypeError/)]);
    expect(node.runtime.contents().containers).toMatchObject([{ state: 1 }]);
  });
});
