import { expect, test } from '@jest/globals';
import { createPodCidrFeed } from '../../../actors/feeds/podCidr.ts';
import { SimulatedClock } from '../../../actors/simulated/simulatedClock.ts';
import type * as wire from '../../../cri/generated/runtime.ts';
import type { NodeFact } from '../../../machines/shared/events/events.ts';
import { type SimulatedNode, simulatedNode } from '../../fakes/node.ts';
import { podWith } from '../../fakes/pods.ts';
import { watching } from '../../fakes/watching.ts';

const CIDR = '10.1.0.0/24';

/** Returns the pod CIDRs that the runtime received, in order. */
const receivedCidrs = (node: SimulatedNode) =>
  node
    .calls('updateRuntimeConfig')
    .map(({ request }) => (request as wire.UpdateRuntimeConfigRequest).runtimeConfig?.networkConfig?.podCidr);

/** Returns the pod CIDR as `explain node` shows it. */
const shown = (node: SimulatedNode) => node.agent.explainNode().node.children.find(({ name }) => name === 'podCidr');

/** Starts a node whose runtime has no network until it receives a pod CIDR. */
async function templateNode(podCidr?: string) {
  const node = await simulatedNode({
    pods: [podWith('a')],
    silentSource: true,
    ...(podCidr === undefined ? {} : { config: { podCidr } }),
  });
  node.runtime.network.awaitConfiguration();
  node.apply();
  return node;
}

test('C27: a runtime that waits for a pod CIDR gets the configured one, once', async () => {
  const node = await templateNode(CIDR);
  await node.advance('120s');
  expect(node.pod('a').phase).toBe('Running');
  expect(receivedCidrs(node)).toEqual([CIDR]);
  expect(node.runtime.network.podCidr).toBe(CIDR);
  expect(shown(node)).toMatchObject({ state: 'applied', facts: [`pods have ${CIDR}`] });
});

test('C27: a node without a pod CIDR sends none, so the network stays as it is', async () => {
  const node = await templateNode();
  await node.advance('120s');
  expect(receivedCidrs(node)).toEqual([]);
  expect(node.pod('a').phase).toBe('Pending');
  expect(shown(node)).toBeUndefined();
});

test('C27: a pod CIDR that the runtime rejects is sent again every 10 s, and shown with the reason', async () => {
  const node = await templateNode(CIDR);
  await node.advance('1s');
  node.runtime.faults.add({ call: 'updateRuntimeConfig', times: 3, error: { message: 'failed to write file' } });
  node.runtime.down();
  await node.advance('5s');
  node.runtime.restart();
  await node.advance('5s');
  expect(receivedCidrs(node)).toHaveLength(2);
  const waitingFor = `the runtime to take ${CIDR} as the addresses of pods, retried every 10s`;
  const lastFailure = expect.objectContaining({ message: expect.stringContaining('failed to write file') });
  expect(shown(node)).toMatchObject({ state: 'failing', waitingFor, lastFailure });
  await node.advance('20s');
  expect(receivedCidrs(node)).toHaveLength(4);
  await node.advance('10s');
  expect(receivedCidrs(node)).toHaveLength(5);
  expect(shown(node)).toMatchObject({ state: 'applied' });
  await node.advance('60s');
  expect(receivedCidrs(node)).toHaveLength(5);
  expect(node.pod('a').phase).toBe('Running');
  const told = node.entries.filter(({ value }) => JSON.stringify(value).includes('podCidrChanged'));
  expect(told).toHaveLength(3);
});

test('C27: a runtime that comes back gets the pod CIDR again', async () => {
  const node = await templateNode(CIDR);
  await node.advance('15s');
  node.runtime.down();
  await node.advance('15s');
  node.runtime.restart();
  await node.advance('15s');
  expect(receivedCidrs(node)).toEqual([CIDR, CIDR]);
});

test('C27: a pod CIDR that the cluster assigns to the Node is sent when it is assigned and when it changes', async () => {
  const { clock, ask, ownNode, stop } = watching();
  const sent: string[] = [];
  const facts: NodeFact[] = [];
  const feedClock = new SimulatedClock();
  const end = new AbortController();
  const feed = createPodCidrFeed({
    cri: {
      updateRuntimeConfig: async ({ runtimeConfig }) => {
        sent.push(runtimeConfig?.networkConfig?.podCidr ?? '');
        return {};
      },
    },
    clock: feedClock,
    podCidr: () => ownNode.podCidr,
    onStart: (look) => {
      ownNode.onChange = () => look({ again: false });
    },
  });
  const running = feed((fact) => facts.push(fact as NodeFact), { signal: end.signal });
  const settle = async () => {
    await clock.advance(0);
    await feedClock.advance(0);
  };
  await settle();
  expect(sent).toEqual([]);
  await ask('POST', '/api/v1/nodes', { metadata: { name: 'node-1' }, spec: {} });
  await settle();
  expect(sent).toEqual([]);
  const patch = (body: object) => ask('PATCH', '/api/v1/nodes/node-1', body, 'application/merge-patch+json');
  await patch({ spec: { podCIDR: CIDR, podCIDRs: [CIDR, 'fd00:1::/64'] } });
  await settle();
  expect(sent).toEqual([`${CIDR},fd00:1::/64`]);
  await patch({ metadata: { annotations: { note: 'x' } } });
  await settle();
  expect(sent).toHaveLength(1);
  expect(facts).toEqual([{ type: 'runtime.podCidrChanged', podCidr: { podCidr: sent[0], since: expect.any(Number) } }]);
  await stop();
  end.abort();
  await running;
});
