/** Lists all metrics that the kubelet binary declares, with the paths that would expose them. */
import { cadvisorMetrics } from './cadvisor.ts';
import { type DeclaredMetric, readDeclarations } from './declarations.ts';
import { readPackagesFrom } from './goSource.ts';

/** Paths other than `/metrics`, by the files whose metrics they expose. */
const METRICS_PATHS: readonly (readonly [file: string, ...paths: readonly string[]])[] = [
  ['pkg/kubelet/prober/', '/metrics/probes'],
  ['pkg/kubelet/metrics/collectors/resource_metrics.go', '/metrics/resource'],
  ['staging/src/k8s.io/component-base/metrics/processstarttime.go', '/metrics/probes', '/metrics/slis'],
  ['staging/src/k8s.io/component-base/metrics/prometheus/slis/', '/metrics/slis'],
  ['vendor/github.com/google/cadvisor/', '/metrics/cadvisor'],
];

function metricsPathsOf(file: string): readonly string[] {
  const [, ...paths] = METRICS_PATHS.find(([start]) => file.startsWith(start)) ?? [];
  return paths.length > 0 ? paths : ['/metrics'];
}

const COLUMN_HEADER =
  '# Families that the packages of a kubelet 1.36.2 declare: path, name, type, labels, stability, bounds, file.';

/**
 * Returns the list as lines of tab-separated values, and a message for each declaration in the Kubernetes source that
 * could not be parsed.
 */
export function declaredList(source: string): { readonly text: string; readonly unread: readonly string[] } {
  const { metrics, unreadMessages } = readDeclarations(readPackagesFrom(source, 'cmd/kubelet'));
  const unsortedLines = [...metrics, ...cadvisorMetrics(source)].flatMap(metricLines);
  // List each metric once, because declarations of the same metric in several files are identical.
  const linesByMetric = new Map(unsortedLines.toReversed().map((line) => [line.split('\t', 2).join(' '), line]));
  const sortedLines = [...linesByMetric].toSorted(([left], [right]) => (left < right ? -1 : 1)).map(([, line]) => line);
  return { text: `${[COLUMN_HEADER, ...sortedLines].join('\n')}\n`, unread: unreadMessages };
}

function metricLines({ name, type, labels, stability, bounds, file }: DeclaredMetric): string[] {
  const columns = [name, type, labels.toSorted().join(), stability, bounds.join(' '), file.replace('staging/src/', '')];
  return metricsPathsOf(file).map((path) => [path, ...columns].join('\t'));
}
