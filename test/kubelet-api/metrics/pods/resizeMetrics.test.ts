import { expect, test } from '@jest/globals';
import { ResizeMetrics } from '../../../../kubelet-api/metrics/pods/resizeMetrics.ts';
import { Registry } from '../../../../kubelet-api/metrics/registry.ts';
import type { ResourceRequirements } from '../../../../kubernetes/api/schema/container.ts';
import type { Pod } from '../../../../kubernetes/api/schema/pod.ts';
import { containerWith, podWith } from '../../../fakes/pods.ts';
import { samplesOf } from '../support/scraped.ts';

const sized = (resources: ResourceRequirements) =>
  podWith('web', { initContainers: [{ ...containerWith('setup'), resources }], containers: [containerWith('main')] })
    .spec;

test('C42: a resize counts each changed amount by its direction', async () => {
  const registry = new Registry();
  const metrics = new ResizeMetrics(registry);
  const before = sized({ requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '2' } });
  metrics.updated(before, sized({ requests: { cpu: '1000m', memory: '2Gi' }, limits: { memory: '3Gi' } }));
  metrics.updated(before, before);
  const counts = [...(await samplesOf(registry))].filter(([name]) => name.startsWith('kubelet_container_requested'));
  expect(new Map(counts.map(([name, count]) => [name.replace(/^\w+/, ''), count]))).toEqual(
    new Map([
      ['{operation="increase",requirement="requests",resource="memory"}', 1],
      ['{operation="add",requirement="limits",resource="memory"}', 1],
      ['{operation="remove",requirement="limits",resource="cpu"}', 1],
    ]),
  );
});

test('C42: each attempt to resize a pod counts with its duration, by its success', async () => {
  const registry = new Registry();
  const metrics = new ResizeMetrics(registry);
  metrics.resized(120, true);
  metrics.resized(7, true);
  metrics.resized(5, false);
  const samples = await samplesOf(registry);
  const of = (success: boolean) => [
    samples.get(`kubelet_pod_resize_duration_milliseconds_sum{success="${success}"}`),
    samples.get(`kubelet_pod_resize_duration_milliseconds_count{success="${success}"}`),
  ];
  expect([of(true), of(false)]).toEqual([
    [127, 2],
    [5, 1],
  ]);
});

test('C42: pods are counted by their resize conditions', async () => {
  const registry = new Registry();
  const metrics = new ResizeMetrics(registry);
  const withCondition = (name: string, type: string, reason?: string): Pod => ({
    ...podWith(name),
    status: { conditions: [{ type, status: 'True', ...(reason ? { reason } : {}) }] },
  });
  metrics.collect([
    withCondition('a', 'PodResizePending', 'Deferred'),
    withCondition('b', 'PodResizePending', 'Deferred'),
    withCondition('c', 'PodResizeInProgress'),
    withCondition('d', 'Ready'),
  ]);
  const samples = await samplesOf(registry);
  expect(samples.get('kubelet_pod_pending_resizes{reason="deferred"}')).toBe(2);
  expect(samples.get('kubelet_pod_in_progress_resizes')).toBe(1);
  metrics.collect([]);
  const after = await samplesOf(registry);
  expect(after.has('kubelet_pod_pending_resizes{reason="deferred"}')).toBe(false);
  expect(after.get('kubelet_pod_in_progress_resizes')).toBe(0);
});
