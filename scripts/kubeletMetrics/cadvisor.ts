/** Collects the metrics of cAdvisor, which declares them as values of its own structs. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DeclaredMetric } from './declarations.ts';

const DIRECTORY = 'vendor/github.com/google/cadvisor/metrics';
/** The labels of each series, by the file that declares it. */
const FILES = {
  'prometheus.go': ['container', 'id', 'image', 'name', 'namespace', 'pod'],
  'prometheus_machine.go': ['boot_id', 'machine_id', 'system_uuid'],
};

const METRIC = /name:\s+"(?<name>\w+)",\s+help:\s+".*",\s+(?<rest>(?:(?:valueType|extraLabels):.*\s+)+)/g;
/** Matches the descriptions of series that have only the labels of their file. All of these series are gauges. */
const DESCRIPTION = /NewDesc\("(?<name>\w+)", ".*", labels, nil\)/g;
const SCRAPE_ERROR = /GaugeOpts\{\s+Namespace: "(?<namespace>\w+)",\s+Name:\s+"(?<name>\w+)"/g;

/**
 * Collects the metrics of the kinds that a kubelet includes (`includedMetrics` in `pkg/kubelet/server/server.go`) in
 * the source of Kubernetes at `root`.
 */
export function cadvisorMetrics(root: string): DeclaredMetric[] {
  const server = readFileSync(join(root, 'pkg/kubelet/server/server.go'), 'utf8');
  const kinds = new Set(Array.from(server.matchAll(/cadvisormetrics\.(\w+Metrics)\b/g), ([, kind]) => kind));
  return Object.entries(FILES).flatMap(([name, base]) => {
    const file = `${DIRECTORY}/${name}`;
    const source = readFileSync(join(root, file), 'utf8');
    const included = source.replaceAll(
      /^\tif includedMetrics\.Has\(container\.(\w+)\) \{\n[\s\S]*?^\t\}\n/gm,
      (block, kind) => (kinds.has(kind) ? block : ''),
    );
    const metric = (declared: Pick<DeclaredMetric, 'name' | 'labels'>, type = 'gauge'): DeclaredMetric => ({
      ...declared,
      type,
      stability: '',
      bounds: [],
      file,
    });
    return [
      ...Array.from(included.matchAll(METRIC), ({ groups: { name = '', rest = '' } = {} }) => {
        const [, type = ''] = /prometheus\.(\w+)Value/.exec(rest) ?? [];
        const [, labels = ''] = /\[\]string\{(.*)\}/.exec(rest) ?? [];
        return metric({ name, labels: [...base, ...labelsIn(labels, source)] }, type.toLowerCase());
      }),
      ...[...new Set(Array.from(included.matchAll(DESCRIPTION), ({ groups: { name = '' } = {} }) => name))].map(
        (name) => metric({ name, labels: base }),
      ),
      ...Array.from(included.matchAll(SCRAPE_ERROR), ({ groups: { namespace, name } = {} }) =>
        metric({ name: `${namespace}_${name}`, labels: [] }),
      ),
    ];
  });
}

/** Parses a list of labels, which are written as strings or as constants of the same file. */
const labelsIn = (list: string, source: string): string[] =>
  list
    .split(',')
    .map((label) => label.trim())
    .filter((label) => label !== '')
    .map(
      (label) =>
        /^"(.*)"$/.exec(label)?.[1] ?? new RegExp(`^\\s*${label}\\s+= "(\\w+)"`, 'm').exec(source)?.[1] ?? label,
    );
