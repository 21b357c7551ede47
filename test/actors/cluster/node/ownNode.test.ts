import { expect, test } from '@jest/globals';
import { OwnNode, ownNodeWatch } from '../../../../actors/cluster/node/ownNode.ts';
import { runWatch } from '../../../../actors/cluster/runWatch.ts';
import { SimulatedClock } from '../../../../actors/simulated/simulatedClock.ts';
import { KubeClient } from '../../../../kubeclient/client.ts';
import type { NodeFact } from '../../../../machines/shared/events/events.ts';
import { bookmark, FIRST_END, object, untilRead } from '../../../fakes/followed.ts';
import { ToldTransport, ToldWatch } from '../../../fakes/toldTransport.ts';
import { watching } from '../../../fakes/watching.ts';

const NODES = '/api/v1/nodes';
const NODE = `${NODES}/node-1`;

test('the own Node is known once the server has listed it, and only while it is watched', async () => {
  const { clock, transport, ask, ownNode, stop } = watching();
  expect(ownNode.current).toBeUndefined();
  await clock.advance(0);
  await ownNode.listed(new AbortController().signal);
  expect(ownNode.current).toBeNull();
  await ask('POST', NODES, { metadata: { name: 'node-1', labels: { zone: 'a' } } });
  await ask('POST', NODES, { metadata: { name: 'node-2', labels: { zone: 'b' } } });
  await clock.advance(0);
  expect(ownNode.current).toMatchObject({ metadata: { name: 'node-1', labels: { zone: 'a' } } });
  // A Node that is no longer watched may have changed.
  transport.isAway = true;
  transport.cut();
  await clock.advance(0);
  expect(ownNode.current).toBeUndefined();
  transport.isAway = false;
  await clock.advance(5_000);
  expect(ownNode.current).toMatchObject({ metadata: { name: 'node-1' } });
  await ask('DELETE', NODE);
  await clock.advance(0);
  expect(ownNode.current).toBeNull();
  await stop();
});

test('only changes of the Node that concern the node are published', async () => {
  const { clock, ask, facts, stop } = watching();
  const seen = () => facts.flatMap((fact) => (fact.type === 'cluster.nodeSeen' ? [fact.node] : []));
  await clock.advance(0);
  expect(seen()).toEqual([null]);
  const { metadata } = await ask('POST', NODES, { metadata: { name: 'node-1', labels: { zone: 'a' } } });
  await clock.advance(0);
  const unready = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };
  const first = { uid: Object(metadata).uid, labels: { zone: 'a' }, taints: [unready], isUnreachable: false };
  expect(seen().slice(1)).toEqual([first]);
  const patch = (path: string, body: object) => ask('PATCH', path, body, 'application/merge-patch+json');
  await patch(NODE, { metadata: { annotations: { note: 'x' } } });
  const taint = { key: 'dedicated', value: 'db', effect: 'NoExecute' };
  await patch(NODE, { spec: { taints: [taint, { key: 'bare', effect: 'NoSchedule' }] } });
  await patch(`${NODE}/status`, { status: { conditions: [{ type: 'Ready', status: 'Unknown' }] } });
  await clock.advance(0);
  const taints = [taint, { key: 'bare', effect: 'NoSchedule' }];
  expect(seen().slice(2)).toEqual([
    { ...first, taints },
    { ...first, taints, isUnreachable: true },
  ]);
  await stop();
});

test('a Node with a deletionTimestamp counts as being deleted', () => {
  const { transform } = ownNodeWatch(new OwnNode(), 'node-1', { now: () => 7 });
  const metadata = { uid: 'u', deletionTimestamp: '2026-01-01T00:00:00Z' };
  expect(transform?.({ metadata })).toMatchObject({ state: { isBeingDeleted: true } });
  expect(transform?.({ metadata: { uid: 'u' } })?.state).not.toHaveProperty('isBeingDeleted');
});

test('the extended resources in the Node status are the ones that its pods may request', () => {
  const { transform } = ownNodeWatch(new OwnNode(), 'node-1', { now: () => 7 });
  const allocatable = { cpu: '2', 'hugepages-2Mi': '0', 'example.com/gpu': '2', 'example.com/none': '0' };
  const status = { allocatable: { ...allocatable, 'kubernetes.io/own': '1' }, capacity: { 'example.com/gpu': '4' } };
  expect(transform?.({ metadata: { uid: 'u' }, status })).toMatchObject({
    state: { extendedResources: { 'example.com/gpu': 2, 'example.com/none': 0 } },
  });
});

test('a taint with an unknown effect is ignored', () => {
  const { transform } = ownNodeWatch(new OwnNode(), 'node-1', { now: () => 7 });
  const taints = [
    { key: 'a', effect: 'NoNetwork' },
    { key: 'b', effect: 'NoExecute' },
  ];
  const state = { uid: 'u', labels: {}, taints: [{ key: 'b', effect: 'NoExecute' }], isUnreachable: false };
  expect(transform?.({ metadata: { uid: 'u' }, spec: { taints } })).toMatchObject({ state });
});

const nodeAt = (version: number) => ({ ...object('node-1', version), kind: 'Node' });

test.each([
  ['labels', { ...nodeAt(6), metadata: { ...nodeAt(6).metadata, labels: null } }],
  ['conditions', { ...nodeAt(6), status: { conditions: [null] } }],
])(
  'a Node whose %s cannot be read is reported, without ending the watch or replacing the last readable version',
  async (_, odd) => {
    const clock = new SimulatedClock();
    const ownNode = new OwnNode();
    const watch = new ToldWatch();
    watch.tell('ADDED', nodeAt(4));
    watch.tell('BOOKMARK', { ...bookmark(5, FIRST_END), kind: 'Node' });
    const transport = new ToldTransport(watch.opened);
    const [facts, errors, ending]: [NodeFact[], string[], AbortController] = [[], [], new AbortController()];
    void runWatch(ownNodeWatch(ownNode, 'node-1', clock), {
      client: new KubeClient({ transport, clock, userAgent: 'statelet/test' }),
      clock,
      jitter: () => 0,
      signal: ending.signal,
      send: (fact) => facts.push(fact),
      onError: (_source, error) => errors.push(String(error)),
    });
    await untilRead(clock);
    watch.tell('MODIFIED', odd);
    await clock.advance(0);
    expect(errors).toEqual([expect.stringContaining('Node node-1 cannot be read')]);
    expect(ownNode.current).toMatchObject({ metadata: { resourceVersion: '4' } });
    watch.tell('MODIFIED', nodeAt(7));
    await clock.advance(60_000);
    expect(ownNode.current).toMatchObject({ metadata: { resourceVersion: '7' } });
    expect(transport.requests).toHaveLength(1);
    expect(facts.filter(({ type }) => type === 'cluster.nodeSeen')).toHaveLength(1);
    ending.abort();
  },
);

test('waiting for the Node ends when the node stops', async () => {
  const ending = new AbortController();
  const waiting = new OwnNode().listed(ending.signal);
  ending.abort();
  await waiting;
  await new OwnNode().listed(ending.signal);
});
