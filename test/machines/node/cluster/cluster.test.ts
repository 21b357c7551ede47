import { expect, test } from '@jest/globals';
import { nextSourceState } from '../../../../machines/node/pods/source.ts';
import { initialPleg, nextPlegState } from '../../../../machines/node/runtime/pleg.ts';
import type { OwnNodeState } from '../../../../machines/shared/events/clusterFacts.ts';
import type { PortName } from '../../../../machines/shared/ports.ts';
import { namedPod, nodeStory } from '../../support/nodeStory.ts';

const MINUTE = 60_000;
const PORTS: readonly PortName[] = ['registerNode', 'ensureCsiNode', 'putNodeStatus', 'renewLease'];

/** Creates a node in a cluster. The test responds to all of its calls to the API server. */
function clusterStory() {
  const story = nodeStory({ cluster: { leaseMs: 40_000, statusCheckMs: 10_000 }, held: PORTS });
  const stateOf = (name: string) => story.own(name)?.state;
  return {
    ...story,
    asks: (port: PortName) => story.ports.asked(port).length,
    states: () => [stateOf('registration'), stateOf('nodeStatus'), stateOf('lease')],
    /** Registers the node, lets it become ready, and accepts its status. */
    register: () => {
      story.list();
      story.ports.answer('registerNode', { uid: 'node-1-uid', events: [] });
      story.ports.answer('ensureCsiNode', null);
      while (story.ports.pending().includes('putNodeStatus'))
        story.ports.answer('putNodeStatus', { isWritten: true, events: [] });
    },
  };
}

test('a node without a cluster has none of its actors, and calls none of its ports', () => {
  const { own, ports, list, tell, context, tick } = nodeStory();
  list();
  tick();
  tell({ type: 'node.factsChanged', at: ports.now, hostIps: ['192.0.2.2'] });
  expect(['registration', 'nodeStatus', 'lease'].map(own)).toEqual([undefined, undefined, undefined]);
  expect(PORTS.flatMap((port) => ports.asked(port))).toEqual([]);
  expect(context().registration).toBeUndefined();
});

test('a node of a cluster renews its lease at once, registers once the runtime was listed, and then reports its status', () => {
  const { ports, states, asks, context, list } = clusterStory();
  expect(states()).toEqual(['awaitingRuntime', 'awaitingRegistration', 'renewing']);
  expect(PORTS.map(asks)).toEqual([0, 0, 0, 1]);
  list();
  expect(states()).toEqual(['registering', 'awaitingRegistration', 'renewing']);
  expect(PORTS.map(asks)).toEqual([1, 0, 0, 1]);
  ports.answer('registerNode', { uid: 'node-1-uid', events: [] });
  expect(context().registration).toEqual({ uid: 'node-1-uid', isInitialized: false });
  expect(states()).toEqual(['creatingCsiNode', 'awaitingReadiness', 'renewing']);
  ports.answer('ensureCsiNode', null);
  expect(context().registration).toEqual({ uid: 'node-1-uid', isInitialized: true });
  expect([states()[1], asks('putNodeStatus')]).toEqual(['reporting', 1]);
});

test('a node that has to stop before the runtime was listed registers when it is', () => {
  const { states, drain, list } = clusterStory();
  drain();
  expect(states()[0]).toBe('awaitingRuntime');
  list();
  expect(states()[0]).toBe('registering');
});

test('a node reports that it is not ready after a while, and at once that it is ready', () => {
  const { ports, states, asks, list } = clusterStory();
  list();
  ports.answer('registerNode', { uid: 'node-1-uid', events: [] });
  ports.advance(5_000);
  ports.answer('putNodeStatus', { isWritten: true, events: [] });
  expect([states()[1], asks('putNodeStatus')]).toEqual(['current', 1]);
  ports.answer('ensureCsiNode', null);
  expect([states()[1], asks('putNodeStatus')]).toEqual(['reporting', 2]);
});

test('changes of the node, of its runtime, and its drain are reported to the cluster at once', () => {
  const { ports, register, list, want, drain, tell, send, asks } = clusterStory();
  register();
  // Hold this call, so that the drain does not complete immediately.
  ports.hold('stopContainer');
  const changes = [
    () => list(),
    () => want([namedPod('web')]),
    () => tell({ type: 'node.factsChanged', at: ports.now, hostIps: ['192.0.2.2'] }),
    () => {
      const health = { since: ports.now, ready: false, name: 'fake', version: '1', message: 'away' };
      tell({ type: 'runtime.healthChanged', health });
    },
    () => {
      const pleg = nextPlegState(initialPleg, { type: 'streamOpened' }, ports.now);
      tell({ type: 'runtime.plegChanged', pleg });
    },
    () => send({ type: 'node.leaseRegained' }),
    () => drain(),
  ];
  const reportCounts = changes.map((change) => {
    const before = asks('putNodeStatus');
    change();
    const after = asks('putNodeStatus');
    while (ports.pending().includes('putNodeStatus')) ports.answer('putNodeStatus', { isWritten: true, events: [] });
    return after - before;
  });
  // The second change causes no report, because the pods of a node are not part of its status.
  expect(reportCounts).toEqual([1, 0, 1, 1, 1, 1, 1]);
});

test('the lease is renewed four times per duration, whether or not the node could be registered', () => {
  const { ports, asks, states } = clusterStory();
  ports.advance(5_000);
  ports.fail('registerNode', 'InternalError');
  ports.answer('renewLease', { isHeld: true, chance: 0 });
  const before = asks('renewLease');
  for (let renewals = 0; renewals < 6; renewals += 1) {
    ports.advance(MINUTE / 6);
    ports.answer('renewLease', { isHeld: true, chance: 0 });
  }
  expect([asks('renewLease') - before, states()[2]]).toEqual([6, 'current']);
});

test('the node shows the last state of each watch', () => {
  const { tell, context } = clusterStory();
  expect(context().watches).toEqual({});
  const own = { place: 'the Node node', now: 1_000 };
  const reading = nextSourceState(undefined, { state: 'reading' }, own);
  const watching = nextSourceState(reading, { state: 'watching' }, { ...own, now: 2_000 });
  const failing = nextSourceState(undefined, { state: 'failing', failure: 'ECONNREFUSED', until: 1_800 }, own);
  tell({ type: 'cluster.watchChanged', watch: 'Node', state: reading });
  tell({ type: 'cluster.watchChanged', watch: 'Service', state: failing });
  tell({ type: 'cluster.watchChanged', watch: 'Node', state: watching });
  expect(context().watches).toEqual({ Node: watching, Service: failing });
  // An update does not move a watch within the list.
  expect(Object.keys(context().watches)).toEqual(['Node', 'Service']);
  tell({ type: 'cluster.watchChanged', watch: 'Service', state: null });
  expect(context().watches).toEqual({ Node: watching });
});

const seen = (node: Partial<OwnNodeState> = {}): OwnNodeState => ({
  uid: 'node-1-uid',
  labels: { zone: 'a' },
  taints: [],
  isUnreachable: false,
  ...node,
});

test("admission uses the labels and taints of the Node or, without one, the node's own", () => {
  const { tell, admission, ports } = clusterStory();
  const known = () => {
    const { labels, taints } = admission()?.context.node ?? {};
    return { labels, taints };
  };
  const own = known();
  const taints = [{ key: 'dedicated', effect: 'NoExecute' as const }];
  const see = (node: OwnNodeState | null) => tell({ type: 'cluster.nodeSeen', node, at: ports.now });
  see(seen({ taints }));
  expect(known()).toEqual({ labels: { zone: 'a' }, taints });
  // The host's own labels have no effect while there is a Node.
  tell({ type: 'node.factsChanged', admissionNode: { labels: { zone: 'host' } }, at: ports.now });
  expect(known()).toEqual({ labels: { zone: 'a' }, taints });
  see(null);
  expect(known()).toEqual({ ...own, labels: { zone: 'host' } });
});

test('extended resources that others have added to the Node count for its pods, whatever changes on the host', () => {
  const { tell, admission, ports, context } = clusterStory();
  const room = () => admission()?.context.capacity;
  const own = context().allocatable;
  tell({ type: 'cluster.nodeSeen', node: seen({ extendedResources: { 'example.com/gpu': 2 } }), at: ports.now });
  expect(room()).toEqual({ ...own, extra: { 'example.com/gpu': 2 } });
  const allocatable = { ...own, extra: { 'ephemeral-storage': 7 } };
  tell({ type: 'node.factsChanged', allocatable, at: ports.now });
  expect(room()).toEqual({ ...own, extra: { 'ephemeral-storage': 7, 'example.com/gpu': 2 } });
  // The Node cannot change resources that the host reports itself.
  tell({ type: 'cluster.nodeSeen', node: seen({ extendedResources: { 'ephemeral-storage': 9 } }), at: ports.now });
  expect(room()).toEqual(allocatable);
  tell({ type: 'cluster.nodeSeen', node: seen(), at: ports.now });
  expect(room()).toEqual(allocatable);
});

test('the status is reported at once if the cluster considers the node unreachable, and not on other changes of the Node', () => {
  const { tell, register, asks, ports } = clusterStory();
  register();
  const before = asks('putNodeStatus');
  tell({ type: 'cluster.nodeSeen', node: seen({ labels: {} }), at: ports.now });
  expect(asks('putNodeStatus')).toBe(before);
  tell({ type: 'cluster.nodeSeen', node: seen({ isUnreachable: true }), at: ports.now });
  expect(asks('putNodeStatus')).toBe(before + 1);
});
