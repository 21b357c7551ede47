import { expect, test } from '@jest/globals';
import { OwnNode } from '../../../actors/cluster/ownNode.ts';
import { clusterWatches } from '../../../actors/cluster/watches.ts';
import { SimulatedClock } from '../../../actors/simulated/simulatedClock.ts';
import type { NodeFact } from '../../../machines/shared/events.ts';
import { cluster } from '../../fakes/cluster.ts';

/** The watches of a node, run until the story ends, and what they have told. */
function watching() {
  const clock = new SimulatedClock();
  const [api, ownNode, ending] = [cluster(clock), new OwnNode(), new AbortController()];
  const facts: NodeFact[] = [];
  const feed = clusterWatches({ cluster: api, nodeName: 'node-1', clock, jitter: () => 0, ownNode });
  const running = feed((fact) => facts.push(fact), { signal: ending.signal });
  const states = () =>
    facts.flatMap((fact) => (fact.type === 'cluster.watchChanged' ? [`${fact.watch} ${fact.state.state}`] : []));
  const stop = async () => {
    ending.abort();
    await running;
  };
  return { ...api, clock, ownNode, facts, states, stop };
}

test('a watch says how it gets on: it reads, watches, fails with the reason, and waits until a moment', async () => {
  const { clock, transport, states, facts, stop } = watching();
  await clock.advance(0);
  expect(states()).toEqual(['Node reading', 'Node watching']);
  transport.isAway = true;
  transport.cut();
  await clock.advance(100);
  expect(states().slice(2)).toEqual(['Node failing']);
  expect(facts.at(-1)).toMatchObject({
    watch: 'Node',
    state: { place: 'the Node node-1', until: expect.any(Number), failure: { message: 'read ECONNRESET' } },
  });
  transport.isAway = false;
  await clock.advance(5_000);
  expect(states().at(-1)).toBe('Node watching');
  await stop();
  expect(clock.pending).toBe(0);
});

test('the own Node is known once the server has said which there is, and followed', async () => {
  const { clock, ask, ownNode, stop } = watching();
  expect(ownNode.object).toBeUndefined();
  await clock.advance(0);
  await ownNode.heard;
  expect(ownNode.object).toBeUndefined();
  await ask('POST', '/api/v1/nodes', { metadata: { name: 'node-1', labels: { zone: 'a' } } });
  await ask('POST', '/api/v1/nodes', { metadata: { name: 'node-2', labels: { zone: 'b' } } });
  await clock.advance(0);
  expect(ownNode.object).toMatchObject({ metadata: { name: 'node-1', labels: { zone: 'a' } } });
  await ask('DELETE', '/api/v1/nodes/node-1');
  await clock.advance(0);
  expect(ownNode.object).toBeUndefined();
  await stop();
});

test('without a cluster there is nothing to watch', async () => {
  const clock = new SimulatedClock();
  const feed = clusterWatches({ nodeName: 'node-1', clock, jitter: () => 0, ownNode: new OwnNode() });
  await feed(() => {}, { signal: new AbortController().signal });
});
