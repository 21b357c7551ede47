import { expect, test } from '@jest/globals';
import { OwnNode, ownNodeWatch } from '../../../actors/cluster/ownNode.ts';
import { follow } from '../../../actors/cluster/watch.ts';
import { SimulatedClock } from '../../../actors/simulated/simulatedClock.ts';
import { KubeClient } from '../../../kube/client.ts';
import type { NodeFact } from '../../../machines/shared/events.ts';
import { object, watchOf } from '../../fakes/followed.ts';
import { ToldTransport } from '../../fakes/toldTransport.ts';
import { watching } from '../../fakes/watching.ts';

const NODES = '/api/v1/nodes';
const NODE = `${NODES}/node-1`;

test('the own Node is known once the server has said which there is, and while it is followed', async () => {
  const { clock, transport, ask, ownNode, stop } = watching();
  expect(ownNode.current).toBeUndefined();
  await clock.advance(0);
  await ownNode.heard(new AbortController().signal);
  expect(ownNode.current).toBeNull();
  await ask('POST', NODES, { metadata: { name: 'node-1', labels: { zone: 'a' } } });
  await ask('POST', NODES, { metadata: { name: 'node-2', labels: { zone: 'b' } } });
  await clock.advance(0);
  expect(ownNode.current).toMatchObject({ metadata: { name: 'node-1', labels: { zone: 'a' } } });
  // What nobody follows any more may be another by now.
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

test('of the Node is told what concerns the node, and only when that has changed', async () => {
  const { clock, ask, facts, stop } = watching();
  const seen = () => facts.flatMap((fact) => (fact.type === 'cluster.nodeSeen' ? [fact.node] : []));
  await clock.advance(0);
  expect(seen()).toEqual([null]);
  const { metadata } = await ask('POST', NODES, { metadata: { name: 'node-1', labels: { zone: 'a' } } });
  await clock.advance(0);
  const unready = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };
  const first = { uid: Object(metadata).uid, labels: { zone: 'a' }, taints: [unready], isDoubted: false };
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
    { ...first, taints, isDoubted: true },
  ]);
  await stop();
});

test('what others have said that the Node has of devices is what its pods may take of them', () => {
  const { keep } = ownNodeWatch(new OwnNode(), 'node-1', { now: () => 7 });
  const allocatable = { cpu: '2', 'hugepages-2Mi': '0', 'example.com/gpu': '2', 'example.com/none': '0' };
  const status = { allocatable: { ...allocatable, 'kubernetes.io/own': '1' }, capacity: { 'example.com/gpu': '4' } };
  expect(keep?.({ metadata: { uid: 'u' }, status })).toMatchObject({
    seen: { extended: { 'example.com/gpu': 2, 'example.com/none': 0 } },
  });
});

test('a taint whose effect is unknown here is not for the node to act on', () => {
  const { keep } = ownNodeWatch(new OwnNode(), 'node-1', { now: () => 7 });
  const taints = [
    { key: 'a', effect: 'NoNetwork' },
    { key: 'b', effect: 'NoExecute' },
  ];
  const seen = { uid: 'u', labels: {}, taints: [{ key: 'b', effect: 'NoExecute' }], isDoubted: false };
  expect(keep?.({ metadata: { uid: 'u' }, spec: { taints } })).toMatchObject({ seen });
});

test.each([
  ['labels', { metadata: { ...object('node-1', 6).metadata, labels: null } }],
  ['conditions', { ...object('node-1', 6), status: { conditions: [null] } }],
])(
  'a Node whose %s cannot be read is told, and neither ends the watch nor takes the place of what was read',
  async (_, odd) => {
    const [clock, ownNode, watch] = [new SimulatedClock(), new OwnNode(), watchOf(5, object('node-1', 4))];
    const transport = new ToldTransport(watch.opened);
    const [facts, errors, ending]: [NodeFact[], string[], AbortController] = [[], [], new AbortController()];
    void follow(ownNodeWatch(ownNode, 'node-1', clock), {
      ...{ client: new KubeClient({ transport, clock, userAgent: 'statelet/test' }), clock, jitter: () => 0 },
      ...{ signal: ending.signal, send: (fact) => facts.push(fact) },
      onError: (_source, error) => errors.push(String(error)),
    });
    await clock.advance(0);
    watch.tell('MODIFIED', odd);
    await clock.advance(0);
    expect(errors).toEqual([expect.stringContaining('Node node-1 cannot be read')]);
    expect(ownNode.current).toMatchObject({ metadata: { resourceVersion: '4' } });
    watch.tell('MODIFIED', object('node-1', 7));
    await clock.advance(60_000);
    expect(ownNode.current).toMatchObject({ metadata: { resourceVersion: '7' } });
    expect(transport.requests).toHaveLength(1);
    expect(facts.filter(({ type }) => type === 'cluster.nodeSeen')).toHaveLength(1);
    ending.abort();
  },
);

test('who waits for the Node waits no longer once the node is to stop', async () => {
  const ending = new AbortController();
  const waiting = new OwnNode().heard(ending.signal);
  ending.abort();
  await waiting;
  await new OwnNode().heard(ending.signal);
});
