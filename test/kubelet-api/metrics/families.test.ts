/** Each family that a node has: its name, type, stability, labels and bounds are a kubelet's, or it is the agent's own. */
import { expect, test } from '@jest/globals';
import { METRICS, OWN, PROBES, SLIS } from './kubeletFamilies.ts';
import { busyNode } from './support/busyNode.ts';
import { type ReadFamily, scraped } from './support/scraped.ts';

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

const listed = (lists: Readonly<Record<string, readonly unknown[]>>) =>
  Object.fromEntries(
    Object.entries(lists).map(([name, [type, stability, labels = '', bounds = []]]) => [
      name,
      [type, stability, labels, bounds],
    ]),
  );

test('C42: every family of every path is as it is listed, and every one listed is there', async () => {
  const { metrics, errors } = await busyNode();
  const of = async (path: keyof typeof metrics.paths) =>
    Object.fromEntries([...(await scraped(metrics.paths[path]))].map(([name, read]) => [name, described(read)]));
  expect(await of('all')).toEqual(listed({ ...METRICS, ...OWN }));
  expect(await of('probes')).toEqual(listed(PROBES));
  expect(await of('slis')).toEqual(listed(SLIS));
  expect(errors).toEqual([]);
});
