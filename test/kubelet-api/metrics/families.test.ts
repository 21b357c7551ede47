/**
 * Tests each metric family of a node: its name, type, stability, labels and buckets are those of the kubelet, unless it
 * is the agent's own.
 */
import { expect, test } from '@jest/globals';
import { exclusionReason, kubeletMetrics } from '../../../scripts/kubeletMetrics/page.ts';
import { busyNode } from './support/busyNode.ts';
import { type ReadFamily, scraped } from './support/scraped.ts';

/** The families that only this agent has, with type and labels. */
const OWN: Readonly<Record<string, readonly [type: string, labels?: string]>> = {
  statelet_actors: ['gauge', 'machine state'],
  statelet_limiter_slots: ['gauge', 'limiter'],
  statelet_limiter_slots_held: ['gauge', 'limiter'],
  statelet_limiter_queue: ['gauge', 'limiter'],
  statelet_stream_sessions: ['gauge', 'kind'],
  statelet_event_loop_delay_seconds: ['gauge', 'share'],
  statelet_event_loop_busy_seconds_total: ['counter'],
  statelet_recorder_lines_total: ['counter'],
  statelet_recorder_written_bytes_total: ['counter'],
  statelet_recorder_pending_characters: ['gauge'],
  statelet_recorder_missed_lines: ['gauge'],
  statelet_recorder_failing: ['gauge'],
};

const LABEL = /(\w+)="/g;

function described({ type, help, samples }: ReadFamily) {
  const stability = /^\[(\w+)\] /.exec(help)?.[1] ?? '';
  const labels = new Set<string>();
  const bounds = new Set<number>();
  for (const series of samples.keys()) {
    for (const [, label = ''] of series.matchAll(LABEL)) if (label !== 'le') labels.add(label);
    const bound = /[{,]le="([\d.e+-]+)"/.exec(series)?.[1];
    if (bound !== undefined) bounds.add(Number(bound));
  }
  return [type, stability, [...labels].toSorted().join(' '), [...bounds]];
}

/**
 * Returns the families of the kubelet that the node serves at a path, with type, stability, labels and buckets as in
 * the source.
 */
const kubelets = (path: string) =>
  kubeletMetrics()
    .filter((metric) => metric.path === path && exclusionReason(metric) === undefined)
    .map(({ name, type, stability, labels, bounds }) => [name, [type, stability, labels.toSorted().join(' '), bounds]]);

const own = Object.entries(OWN).map(([name, [type, labels = '']]) => [name, [type, '', labels, []]]);

test('C42: every family on every path matches the list, and every listed one exists', async () => {
  const { metrics, errors } = await busyNode();
  const of = async (path: keyof typeof metrics.registries) =>
    Object.fromEntries([...(await scraped(metrics.registries[path]))].map(([name, read]) => [name, described(read)]));
  expect(await of('all')).toEqual(Object.fromEntries([...kubelets('/metrics'), ...own]));
  expect(await of('probes')).toEqual(Object.fromEntries(kubelets('/metrics/probes')));
  expect(await of('slis')).toEqual(Object.fromEntries(kubelets('/metrics/slis')));
  expect(errors).toEqual([]);
});
