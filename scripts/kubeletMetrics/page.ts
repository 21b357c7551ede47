/** The page about the metrics of a kubelet, and the list that it is generated from. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { reasons } from './reasons.ts';

const root = join(import.meta.dirname, '../..');

/** A family of a kubelet on one of its paths. */
export interface KubeletMetric {
  readonly path: string;
  readonly name: string;
  readonly type: string;
  readonly labels: readonly string[];
}

const LISTS = ['kubelet-1.36.tsv', 'kubelet-1.36-unsampled.tsv'];

/** Reads all families that a kubelet 1.36 has or declares. */
export const kubeletMetrics = (): KubeletMetric[] =>
  LISTS.flatMap((file) => readFileSync(join(root, 'test/kubelet-api/metrics', file), 'utf8').split('\n'))
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [path = '', name = '', type = '', labels = ''] = line.split('\t');
      return { path, name, type, labels: labels.split(',').filter((label) => label !== '') };
    });

/** Why the node does not expose a metric; undefined if it does. */
export const reasonAgainst = (name: string): string | undefined =>
  reasons.find(({ names }) => names.some((pattern) => matches(pattern, name)))?.text;

const matches = (pattern: string, name: string): boolean =>
  pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;

/** The patterns of names for which a kubelet has no metric, so that their reasons are out of date. */
export function staleReasons(): string[] {
  const names = kubeletMetrics().map(({ name }) => name);
  return reasons.flatMap((reason) => reason.names.filter((pattern) => !names.some((name) => matches(pattern, name))));
}

const INTRODUCTION = `# The metrics of a kubelet

The node exposes the metrics of a kubelet 1.36 that have a meaning for it, with their names, types, labels, buckets and
stability levels (rule [C42](conformance.md#c42-metrics)). This page lists every metric that a kubelet has or declares, with the
reason for each that the node does not expose. Beside these the node has its own metrics, whose names begin with \`statelet_\`.

This page is written by \`npm run docs\`, from the lists of a kubelet's metrics
([kubelet-1.36.tsv](../test/kubelet-api/metrics/kubelet-1.36.tsv), and for metrics without a series on a node of two pods
[kubelet-1.36-unsampled.tsv](../test/kubelet-api/metrics/kubelet-1.36-unsampled.tsv)) and from
[scripts/kubeletMetrics/reasons.ts](../scripts/kubeletMetrics/reasons.ts). A test compares it with a running node.`;

/** The whole page, as it is stored in docs/metrics.md. */
export function metricsPage(): string {
  const all = kubeletMetrics();
  const exposed = all.filter(({ name }) => reasonAgainst(name) === undefined);
  const rows = all.map(({ path, name, type, labels }) => {
    const reason = reasonAgainst(name);
    const shown = reason === undefined ? 'yes' : `no: ${reason}`;
    return `| \`${path}\` | \`${name}\` | ${type} | ${labels.join(', ')} | ${shown} |`;
  });
  return [
    INTRODUCTION,
    '',
    `Exposed are ${exposed.length} of ${all.length}.`,
    '',
    '| Path | Metric | Type | Labels | Exposed |',
    '|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}
