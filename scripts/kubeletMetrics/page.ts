/** Generates the page about the metrics of the kubelet from a list of these metrics. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ExclusionReason, exclusionReasons } from './reasons.ts';

const root = join(import.meta.dirname, '../..');

/** A metric family that the kubelet exposes on one of its paths. */
export interface KubeletMetric {
  readonly path: string;
  readonly name: string;
  readonly type: string;
  readonly labels: readonly string[];
  /** Stability level. Empty for a metric that no Kubernetes library declares. */
  readonly stability: string;
  /** The upper bounds of the buckets of a histogram. */
  readonly bounds: readonly number[];
  /** The file that contains the declaration. Empty if that file is not part of the Kubernetes source tree. */
  readonly file: string;
}

/**
 * Reads a list of metrics. The list `kubelet-1.36` contains the metrics of a running kubelet, and
 * `kubelet-1.36-declared` contains those declared in its source.
 */
export const readMetricsList = (list: string): KubeletMetric[] =>
  readFileSync(join(root, `test/kubelet-api/metrics/${list}.tsv`), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [path = '', name = '', type = '', labels = '', stability = '', bounds = '', file = ''] = line.split('\t');
      const [own, upper] = [labels.split(','), bounds.split(' ')].map((values) => values.filter((each) => each !== ''));
      return { path, name, type, labels: own ?? [], stability, bounds: (upper ?? []).map(Number), file };
    });

/** Returns all metric families that the kubelet 1.36 exposes or declares, each once per path. */
export function kubeletMetrics(): KubeletMetric[] {
  const metrics = [...readMetricsList('kubelet-1.36'), ...readMetricsList('kubelet-1.36-declared')];
  const metricsByPathAndName = new Map(metrics.map((metric) => [`${metric.path} ${metric.name}`, metric]));
  return [...metricsByPathAndName].toSorted(([left], [right]) => (left < right ? -1 : 1)).map(([, metric]) => metric);
}

/** Returns the reason why the node does not expose a metric, or undefined if it does. */
export const exclusionReason = (metric: Pick<KubeletMetric, 'name' | 'file'>): string | undefined =>
  exclusionReasons.find((reason) => patternsOf(reason).some((pattern) => matchesPattern(pattern, metric)))?.text;

const patternsOf = ({ names = [], files = [] }: ExclusionReason): Pattern[] => [
  ...names.map((pattern) => ({ pattern, field: 'name' as const })),
  ...files.map((pattern) => ({ pattern, field: 'file' as const })),
];

interface Pattern {
  readonly pattern: string;
  readonly field: 'name' | 'file';
}

function matchesPattern({ pattern, field: of }: Pattern, metric: Pick<KubeletMetric, 'name' | 'file'>): boolean {
  const fieldValue = metric[of];
  return pattern.endsWith('*') ? fieldValue.startsWith(pattern.slice(0, -1)) : fieldValue === pattern;
}

/** Returns the patterns that match no metric of the kubelet. The reasons given for these patterns are outdated. */
export function staleReasons(): string[] {
  const metrics = kubeletMetrics();
  return exclusionReasons
    .flatMap(patternsOf)
    .filter((pattern) => !metrics.some((metric) => matchesPattern(pattern, metric)))
    .map(({ pattern }) => pattern);
}

const INTRODUCTION = `# The metrics of a kubelet

The node exposes the metrics of a kubelet 1.36 that have a meaning for it, with their names, types, labels, buckets and
stability levels (rule [C42](conformance.md#c42-metrics)). This page lists every metric that a kubelet has or declares, with the
reason for each that the node does not expose. Beside these the node has its own metrics, whose names begin with \`statelet_\`.

This page is written by \`npm run docs\`, from the list of a kubelet with two pods
([kubelet-1.36.tsv](../test/kubelet-api/metrics/kubelet-1.36.tsv)), the list of all metrics that the packages of a kubelet declare
([kubelet-1.36-declared.tsv](../test/kubelet-api/metrics/kubelet-1.36-declared.tsv)) and
[scripts/kubeletMetrics/reasons.ts](../scripts/kubeletMetrics/reasons.ts). The second list is made from the source of Kubernetes by
\`node scripts/kubeletMetrics.mjs\`. It has every metric of Kubernetes and of cAdvisor, except for those that a container
runtime names itself when the feature gate PodAndContainerStatsFromCRI is on, and those that an application names for
cAdvisor. A test compares the page with a running node.`;

/** Returns the contents of docs/metrics.md. */
export function metricsPage(): string {
  const metrics = kubeletMetrics();
  const exposedMetrics = metrics.filter((metric) => exclusionReason(metric) === undefined);
  const rows = metrics.map((metric) => {
    const { path, name, type, labels } = metric;
    const reason = exclusionReason(metric);
    const exposure = reason === undefined ? 'yes' : `no: ${reason}`;
    return `| \`${path}\` | \`${name}\` | ${type} | ${labels.join(', ')} | ${exposure} |`;
  });
  return [
    INTRODUCTION,
    '',
    `Exposed are ${exposedMetrics.length} of ${metrics.length}.`,
    '',
    '| Path | Metric | Type | Labels | Exposed |',
    '|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}
