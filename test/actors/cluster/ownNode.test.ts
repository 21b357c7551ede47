import { expect, test } from '@jest/globals';
import { OwnNode, ownNodeWatch } from '../../../actors/cluster/ownNode.ts';
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

test('a taint whose effect is unknown here is not for the node to act on', () => {
  const told: unknown[] = [];
  const { onSet } = ownNodeWatch(new OwnNode(), 'node-1', { now: () => 7 });
  const taints = [
    { key: 'a', effect: 'NoNetwork' },
    { key: 'b', effect: 'NoExecute' },
  ];
  onSet([{ metadata: { uid: 'u' }, spec: { taints } }], (fact) => told.push(fact));
  const node = { uid: 'u', labels: {}, taints: [{ key: 'b', effect: 'NoExecute' }], isDoubted: false };
  expect(told).toEqual([{ type: 'cluster.nodeSeen', node, at: 7 }]);
});

test('who waits for the Node waits no longer once the node is to stop', async () => {
  const ending = new AbortController();
  const waiting = new OwnNode().heard(ending.signal);
  ending.abort();
  await waiting;
  await new OwnNode().heard(ending.signal);
});
