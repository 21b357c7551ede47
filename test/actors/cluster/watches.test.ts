import { expect, test } from '@jest/globals';
import { ClusterRuntimeClasses } from '../../../actors/cluster/clusterRuntimeClasses.ts';
import { OwnNode } from '../../../actors/cluster/node/ownNode.ts';
import { ClusterServices } from '../../../actors/cluster/services.ts';
import { clusterWatches } from '../../../actors/cluster/watches.ts';
import { SimulatedClock } from '../../../actors/simulated/simulatedClock.ts';
import { watching } from '../../fakes/watching.ts';

test('a watch reports its progress: reading, watching, failing with the reason, and waiting until a stated time', async () => {
  const { clock, transport, states, factsOf, stop } = watching();
  await clock.advance(0);
  expect(states('Node')).toEqual(['reading', 'watching']);
  transport.isAway = true;
  transport.cut();
  await clock.advance(100);
  expect(states('Node').slice(2)).toEqual(['failing']);
  expect(factsOf('Node').at(-1)).toMatchObject({
    place: 'the Node node-1',
    until: expect.any(Number),
    failure: { message: 'connect ECONNREFUSED 127.0.0.1:6443' },
  });
  transport.isAway = false;
  await clock.advance(5_000);
  expect(states('Node').at(-1)).toBe('watching');
  await stop();
  expect(clock.pending).toBe(0);
});

test('each resource is watched separately, with the requests of a kubelet', async () => {
  const { clock, transport, stop } = watching();
  await clock.advance(0);
  const urls = transport.requests.map(({ path }) => new URL(path, 'https://api'));
  expect(urls.map(({ pathname, searchParams }) => [pathname, searchParams.get('fieldSelector')])).toEqual([
    ['/api/v1/nodes', 'metadata.name=node-1'],
    ['/api/v1/services', 'spec.clusterIP!=None'],
    ['/apis/node.k8s.io/v1/runtimeclasses', null],
  ]);
  await stop();
});

test('without a cluster nothing is watched', async () => {
  const clock = new SimulatedClock();
  const caches = { ownNode: new OwnNode(), services: new ClusterServices(), classes: new ClusterRuntimeClasses() };
  const feed = clusterWatches({ nodeName: 'node-1', clock, jitter: () => 0, onError: () => {}, ...caches });
  await feed(() => {}, { signal: new AbortController().signal });
});
