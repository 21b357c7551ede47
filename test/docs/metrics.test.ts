/** Tests the table of the kubelet's metrics against the metrics that a node really exposes. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { cadvisorRoute } from '../../kubelet-api/metrics/cadvisor/cadvisor.ts';
import {
  exclusionReason,
  kubeletMetrics,
  metricsPage,
  readMetricsList,
  staleReasons,
} from '../../scripts/kubeletMetrics/page.ts';
import { listening } from '../kubelet-api/listener/support/listening.ts';
import { HOST, nodeSample, READ_AT } from '../kubelet-api/metrics/cadvisor/samples.ts';
import { busyNode } from '../kubelet-api/metrics/support/busyNode.ts';
import { type ReadFamily, readFamilies, textOf } from '../kubelet-api/metrics/support/scraped.ts';
import { root } from '../support/root.ts';

test('docs/metrics.md is current: `npm run docs` writes it', () => {
  expect(readFileSync(join(root, 'docs/metrics.md'), 'utf8')).toBe(metricsPage());
});

test('C42: each metric of a kubelet is listed once per path, and each reason refers to one of them', () => {
  const all = kubeletMetrics().map(({ path, name }) => `${path} ${name}`);
  expect(all.length).toBeGreaterThan(350);
  expect(new Set(all).size).toBe(all.length);
  expect(staleReasons()).toEqual([]);
});

test('C42: the metrics of a running kubelet and of its source agree, except for those of third-party libraries', () => {
  const families = (list: string) =>
    readMetricsList(list).map(({ path, name, type, labels }) => `${path} ${name} ${type} ${labels.toSorted().join()}`);
  const declared = new Set(families('kubelet-1.36-declared'));
  const others = families('kubelet-1.36').filter((family) => !declared.has(family));
  expect(others.filter((family) => !/^\/metrics (go|process)_/.test(family))).toEqual([
    '/metrics/cadvisor cadvisor_version_info gauge cadvisorRevision,cadvisorVersion,dockerVersion,kernelVersion,osVersion',
  ]);
});

/** Labels that are part of a family's type and do not form separate series. */
const PARTS = ['le', 'quantile'];

/** Returns the families of a text with their types and labels, without those that only this agent has. */
const shown = (families: ReadonlyMap<string, ReadFamily>) =>
  [...families]
    .filter(([name]) => !name.startsWith('statelet_'))
    .map(([name, { type, samples }]) => {
      const labels = [...samples.keys()].flatMap((series) =>
        Array.from(series.matchAll(/(\w+)="/g), ([, label]) => label),
      );
      const own = new Set(labels.filter((label) => label !== undefined && !PARTS.includes(label)));
      return `${name} ${type} ${[...own].toSorted().join()}`;
    })
    .toSorted();

const listed = (path: string) =>
  kubeletMetrics()
    .filter((metric) => metric.path === path && exclusionReason(metric) === undefined)
    .map(({ name, type, labels }) => `${name} ${type} ${labels.toSorted().join()}`)
    .toSorted();

describe('C42: a running node exposes the metrics in the table, and no other metric of a kubelet', () => {
  test('on /metrics, /metrics/probes and /metrics/slis', async () => {
    const { metrics } = await busyNode();
    expect(shown(readFamilies(await textOf(metrics.registries.all)))).toEqual(listed('/metrics'));
    expect(shown(readFamilies(await textOf(metrics.registries.probes)))).toEqual(listed('/metrics/probes'));
    expect(shown(readFamilies(await textOf(metrics.registries.slis)))).toEqual(listed('/metrics/slis'));
  });

  test('on /metrics/resource', () => {
    const text = readFileSync(join(root, 'test/kubelet-api/metrics/resource.txt'), 'utf8');
    expect(shown(readFamilies(text))).toEqual(listed('/metrics/resource'));
  });

  test('on /metrics/cadvisor', async () => {
    const parts = { sample: async () => nodeSample({}), host: async () => HOST, pods: () => [], now: () => READ_AT };
    const { ask } = await listening({ routes: [cadvisorRoute({ ...parts, startedAt: 1_000 })] });
    const { body } = await ask('/metrics/cadvisor');
    // Further families only have series with certain quotas, kernels and versions of cgroups.
    const names = new Set(shown(readFamilies(body)));
    expect(listed('/metrics/cadvisor').filter((family) => !names.has(family))).toEqual([]);
  });
});
