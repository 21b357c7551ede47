/**
 * Tests that decisions of machines and actions of services that only metrics show are counted, on the simulated
 * runtime.
 */
import { expect, test } from '@jest/globals';
import { ContainerEventType } from '../../../cri/generated/runtime.ts';
import { simulatedMemoryManager } from '../../../testing/simulation/host/cpuTopologies.ts';
import { containerWith, podWith } from '../../fakes/pods.ts';
import { countedNode, samplesOf } from './support/scraped.ts';

const small = { capacity: { cpuMillis: 2_000, memoryBytes: 2 ** 30, pods: 10 } };

const asking = (name: string, cpu: string, spec: object = {}) =>
  podWith(name, {
    containers: [{ ...containerWith('main'), resources: { requests: { cpu } } }],
    ...spec,
  });

test('C42: a preempted pod counts once, by the resource that was insufficient', async () => {
  const { node, metrics } = await countedNode({ config: small });
  node.apply(asking('a', '1500m'));
  await node.advance('5s');
  const preemptions = async () =>
    (await samplesOf(metrics.registries.all)).get('kubelet_preemptions{preemption_signal="cpu"}');
  expect(await preemptions()).toBeUndefined();
  node.apply(asking('critical', '1', { priority: 2_000_000_000 }));
  await node.advance('60s');
  expect(node.pod('critical').phase).toBe('Running');
  expect(await preemptions()).toBe(1);
});

test('C42: a running pod that no source wants after an agent restart counts as orphaned', async () => {
  const { node, metrics } = await countedNode();
  node.apply(podWith('kept'), podWith('dropped'));
  await node.advance('5s');
  node.killAgent();
  node.remove('dropped');
  await node.startAgent();
  node.tellSource();
  await node.advance('5s');
  expect((await samplesOf(metrics.registries.all)).get('kubelet_orphaned_runtime_pods_total')).toBe(1);
});

const accepted = (trigger: string) => `kubelet_pod_deferred_accepted_resizes_total{retry_trigger="${trigger}"}`;

test('C42: an accepted deferred resize counts by what freed the resources', async () => {
  const { node, metrics } = await countedNode({ config: small });
  node.apply(asking('a', '1'), asking('b', '1'));
  await node.advance('2s');
  node.apply(asking('b', '1500m'));
  await node.advance('5s');
  expect(node.view('b').updateRefusal?.reason).toBe('Deferred');
  expect((await samplesOf(metrics.registries.all)).has(accepted('pod_resized'))).toBe(false);
  node.apply(asking('a', '500m'));
  await node.advance('5s');
  expect((await samplesOf(metrics.registries.all)).get(accepted('pod_resized'))).toBe(1);
  node.apply(asking('b', '1800m'));
  await node.advance('5s');
  node.remove('a');
  await node.advance('60s');
  const now = await samplesOf(metrics.registries.all);
  expect(now.get(accepted('pod_terminated'))).toBe(1);
  expect(now.get(accepted('pod_resized'))).toBe(1);
});

test('C42: a withdrawn deferred resize does not count as accepted', async () => {
  const { node, metrics } = await countedNode({ config: small });
  node.apply(asking('a', '1'), asking('b', '1'));
  await node.advance('2s');
  node.apply(asking('b', '1500m'));
  await node.advance('5s');
  node.apply(asking('b', '1'));
  await node.advance('5s');
  expect(
    [...(await samplesOf(metrics.registries.all)).keys()].filter((name) => name.includes('deferred_accepted')),
  ).toEqual([]);
});

test('C42: each request for an infeasible resize counts once, by its reason', async () => {
  const { node, metrics } = await countedNode({ config: small });
  const limited = (cpu: string) => asking('a', cpu);
  node.apply(limited('1'));
  await node.advance('2s');
  node.apply(podWith('a', { containers: [containerWith('main')] }));
  await node.advance('30s');
  const series = 'kubelet_pod_infeasible_resizes_total{reason_detail="qos_class_change"}';
  const count = async () => (await samplesOf(metrics.registries.all)).get(series);
  expect(await count()).toBe(1);
  const resources = { limits: { cpu: '1', memory: '1Mi' }, requests: { cpu: '1', memory: '1Mi' } };
  const guaranteed = podWith('a', { containers: [containerWith('main', { resources })] });
  node.apply(guaranteed);
  await node.advance('2s');
  expect(await count()).toBe(2);
  node.apply({ ...guaranteed, metadata: { ...guaranteed.metadata, labels: { changed: 'yes' } } });
  await node.advance('2s');
  expect(await count()).toBe(2);
});

test('C42: event streams of the runtime count when they open and when they break', async () => {
  const { node, metrics } = await countedNode();
  await node.advance('2s');
  const connections = async (outcome: string) =>
    (await samplesOf(metrics.registries.all)).get(`kubelet_evented_pleg_connection_${outcome}_count`);
  expect([await connections('success'), await connections('error')]).toEqual([1, 0]);
  node.runtime.restart();
  await node.advance('5s');
  expect([await connections('success'), await connections('error')]).toEqual([2, 1]);
});

test('C42: an event of the runtime counts with its age, and one without a time does not', async () => {
  const { node, metrics } = await countedNode({ eventStream: true });
  await node.advance('2s');
  const now = node.clock.now();
  const type = ContainerEventType.CONTAINER_STOPPED_EVENT;
  const emit = (at: number) => node.runtime.events.emit({ id: 'gone', type, sandboxId: '', podUid: '', at });
  // The clock of the runtime may be ahead.
  for (const at of [now - 1_500, now + 60_000, 0]) emit(at);
  await node.advance('1s');
  const samples = await samplesOf(metrics.registries.all);
  const of = (suffix: string) => samples.get(`kubelet_evented_pleg_connection_latency_seconds_${suffix}`);
  expect([of('count'), of('sum')]).toEqual([2, 1.5]);
});

test('C42: volume measurements are counted with their duration', async () => {
  const { metrics } = await countedNode();
  for (const ms of [100, 400]) metrics.observers.onServiceAction({ action: 'volumeMeasured', ms });
  const samples = await samplesOf(metrics.registries.all);
  const of = (suffix: string) =>
    samples.get(`kubelet_volume_metric_collection_duration_seconds_${suffix}{metric_source="du"}`);
  expect([of('count'), of('sum')]).toEqual([2, 0.5]);
});

test('C42: removed images count by reason', async () => {
  const { metrics } = await countedNode();
  for (const reason of ['age', 'space', 'space'] as const)
    metrics.observers.onServiceAction({ action: 'imageCollected', reason });
  const samples = await samplesOf(metrics.registries.all);
  const count = (reason: string) => samples.get(`kubelet_image_garbage_collected_total{reason="${reason}"}`);
  expect([count('age'), count('space')]).toEqual([1, 2]);
});

test('C42: containers with memory of their own, those that get none, and all admissions are counted', async () => {
  const { node, metrics } = await countedNode({ config: { memoryManager: simulatedMemoryManager('laptop') } });
  const count = async (name: string) => (await samplesOf(metrics.registries.all)).get(`kubelet_${name}_total`);
  node.apply(podWith('shared'));
  await node.advance('5s');
  expect(await count('topology_manager_admission_requests')).toBe(1);
  expect(await count('memory_manager_pinning_requests')).toBe(0);
  expect(await count('memory_manager_pinning_errors')).toBe(0);
  const guaranteed = (name: string, memory: string) => {
    const limits = { cpu: '100m', memory };
    return podWith(name, { containers: [{ ...containerWith('main'), resources: { requests: limits, limits } }] });
  };
  node.apply(guaranteed('own', '1Gi'), guaranteed('large', '16Gi'));
  await node.advance('5s');
  expect(await count('memory_manager_pinning_requests')).toBe(2);
  expect(await count('memory_manager_pinning_errors')).toBe(1);
  expect(await count('topology_manager_admission_requests')).toBe(3);
  // Without a topology policy, the topology manager rejects no pod.
  expect(await count('topology_manager_admission_errors')).toBe(0);
});

test('C42: the duration of each decided admission is measured, whether or not the pod is admitted', async () => {
  const { metrics } = await countedNode();
  for (const [uid, end, state] of [
    ['first', 1_007, 'preparing'],
    ['second', 1_200, 'refused'],
    ['deleted', 1_500, 'terminating'],
  ] as const) {
    metrics.observers.onStateChange({ at: 1_000, actor: `pod/${uid}`, state: 'admitting' });
    metrics.observers.onStateChange({ at: end, actor: `pod/${uid}`, state });
    metrics.observers.onStateChange({ at: 9_000, actor: `pod/${uid}`, state: 'terminating' });
  }
  const samples = await samplesOf(metrics.registries.all);
  const of = (suffix: string) => samples.get(`kubelet_topology_manager_admission_duration_ms_${suffix}`);
  expect([of('count'), of('sum'), of('bucket{le="6.4"}'), of('bucket{le="12.8"}')]).toEqual([2, 207, 0, 1]);
});

test('C42: registrations and allocations of device plugins count by resource', async () => {
  const { metrics } = await countedNode();
  for (const resource of ['example.com/gpu', 'example.com/gpu', 'cpu'])
    metrics.observers.onServiceAction({ action: 'devicePluginRegistered', resource });
  const input = { uid: 'u', pod: 'default/a', container: 'main', resource: 'example.com/gpu', devices: ['g0'] };
  for (const ms of [500, 1_500]) metrics.observers.onPortOutcome({ port: 'allocateDevices', input, ms });
  const samples = await samplesOf(metrics.registries.all);
  const registrations = (resource: string) =>
    samples.get(`kubelet_device_plugin_registration_total{resource_name="${resource}"}`);
  const duration = (suffix: string) =>
    samples.get(`kubelet_device_plugin_alloc_duration_seconds_${suffix}{resource_name="example.com/gpu"}`);
  expect([registrations('example.com/gpu'), registrations('cpu'), duration('count'), duration('sum')]).toEqual([
    2, 1, 2, 2,
  ]);
});
