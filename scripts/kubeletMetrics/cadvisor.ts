/** Collects the metrics of cAdvisor, which declares them as values of its own structs. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DeclaredMetric } from './declarations.ts';

const DIRECTORY = 'vendor/github.com/google/cadvisor/metrics';
/** Labels common to all series of a file, keyed by the file that declares the series. */
const METRIC_FILES = {
  'prometheus.go': ['container', 'id', 'image', 'name', 'namespace', 'pod'],
  'prometheus_machine.go': ['boot_id', 'machine_id', 'system_uuid'],
};

const METRIC_PATTERN = /name:\s+"(?<name>\w+)",\s+help:\s+".*",\s+(?<rest>(?:(?:valueType|extraLabels):.*\s+)+)/g;
/** Matches the descriptions of series that have only the labels of their file. All of these series are gauges. */
const DESCRIPTION_PATTERN = /NewDesc\("(?<name>\w+)", ".*", labels, nil\)/g;
const SCRAPE_ERROR_PATTERN = /GaugeOpts\{\s+Namespace: "(?<namespace>\w+)",\s+Name:\s+"(?<name>\w+)"/g;

/**
 * Collects the cAdvisor metrics of the kinds that the kubelet includes (`includedMetrics` in
 * `pkg/kubelet/server/server.go`). `root` is the directory of the Kubernetes source.
 */
export function cadvisorMetrics(root: string): DeclaredMetric[] {
  const serverSource = readFileSync(join(root, 'pkg/kubelet/server/server.go'), 'utf8');
  const includedKinds = new Set(
    Array.from(serverSource.matchAll(/cadvisormetrics\.(\w+Metrics)\b/g), ([, kind]) => kind),
  );
  return Object.entries(METRIC_FILES).flatMap(([name, base]) => {
    const file = `${DIRECTORY}/${name}`;
    const source = readFileSync(join(root, file), 'utf8');
    const includedSource = source.replaceAll(
      /^\tif includedMetrics\.Has\(container\.(\w+)\) \{\n[\s\S]*?^\t\}\n/gm,
      (block, kind) => (includedKinds.has(kind) ? block : ''),
    );
    const createMetric = (declared: Pick<DeclaredMetric, 'name' | 'labels'>, type = 'gauge'): DeclaredMetric => ({
      ...declared,
      type,
      stability: '',
      bounds: [],
      file,
    });
    return [
      ...Array.from(includedSource.matchAll(METRIC_PATTERN), ({ groups: { name = '', rest = '' } = {} }) => {
        const [, type = ''] = /prometheus\.(\w+)Value/.exec(rest) ?? [];
        const [, labels = ''] = /\[\]string\{(.*)\}/.exec(rest) ?? [];
        return createMetric({ name, labels: [...base, ...parseLabels(labels, source)] }, type.toLowerCase());
      }),
      ...[
        ...new Set(Array.from(includedSource.matchAll(DESCRIPTION_PATTERN), ({ groups: { name = '' } = {} }) => name)),
      ].map((name) => createMetric({ name, labels: base })),
      ...Array.from(includedSource.matchAll(SCRAPE_ERROR_PATTERN), ({ groups: { namespace, name } = {} }) =>
        createMetric({ name: `${namespace}_${name}`, labels: [] }),
      ),
    ];
  });
}

/** Parses a list of labels, which are written as strings or as constants of the same file. */
const parseLabels = (list: string, source: string): string[] =>
  list
    .split(',')
    .map((label) => label.trim())
    .filter((label) => label !== '')
    .map(
      (label) =>
        /^"(.*)"$/.exec(label)?.[1] ?? new RegExp(`^\\s*${label}\\s+= "(\\w+)"`, 'm').exec(source)?.[1] ?? label,
    );
