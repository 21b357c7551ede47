/**
 * Builds tables of resource usage by pods and nodes, as `kubectl top` does (`pkg/metricsutil/metrics_printer.go` in
 * k8s.io/kubectl).
 */
import { parseQuantity } from '../../kubernetes/api/values/quantity.ts';

/** CPU usage in nanocores and memory working set in bytes. */
export interface Usage {
  readonly cpuNanoCores: number;
  readonly memoryBytes: number;
}

interface ContainerUsage {
  readonly name: string;
  readonly usage: Usage;
}

export interface PodUsage {
  readonly namespace: string;
  readonly name: string;
  readonly containers: readonly ContainerUsage[];
}

export interface NodeUsage {
  readonly name: string;
  readonly usage: Usage;
  /** Quantities keyed by resource name. */
  readonly allocatable: ReadonlyMap<string, string>;
}

/** The fields by which the rows of a table can be sorted, the largest usage first. */
export const SORT_FIELDS = ['cpu', 'memory'] as const;
export type SortField = (typeof SORT_FIELDS)[number];

export interface PodTableOptions {
  readonly showsNamespaces: boolean;
  /** Whether each container has its own row. */
  readonly containers: boolean;
  /** If undefined, the rows are sorted by namespace and name. */
  readonly sortBy: SortField | undefined;
}

const USAGE_COLUMNS = ['NAME', 'CPU(cores)', 'MEMORY(bytes)'];
const NODE_COLUMNS = ['NAME', 'CPU(cores)', 'CPU(%)', 'MEMORY(bytes)', 'MEMORY(%)'];

const NANOS_IN_MILLI = 1_000_000;
const MIB = 2 ** 20;

/** Builds the table of pods, or of their containers, as rows of cells. The header is first. */
export function podUsageTable(pods: readonly PodUsage[], options: PodTableOptions): string[][] {
  const { showsNamespaces, containers, sortBy } = options;
  const podTotals = pods.map((pod) => ({ ...pod, usage: totalUsage(pod.containers) }));
  const rows = podTotals.toSorted(compareUsage(sortBy)).flatMap((pod) => {
    const namespace = showsNamespaces ? [pod.namespace] : [];
    if (!containers) return [[...namespace, pod.name, ...usageCells(pod.usage)]];
    return pod.containers
      .toSorted(compareUsage(sortBy))
      .map(({ name, usage }) => [...namespace, pod.name, name, ...usageCells(usage)]);
  });
  const header = [...(showsNamespaces ? ['NAMESPACE'] : []), ...(containers ? ['POD'] : []), ...USAGE_COLUMNS];
  return [header, ...rows];
}

/** Builds the table of nodes as rows of cells. The header is first. */
export function nodeUsageTable(nodes: readonly NodeUsage[], sortBy: SortField | undefined): string[][] {
  const rows = nodes.toSorted(compareUsage(sortBy)).map(({ name, usage, allocatable }) => {
    const [cpu = '', memory = ''] = usageCells(usage);
    const cpuShare = percentage(usage.cpuNanoCores / 1e9, allocatable.get('cpu'));
    return [name, cpu, cpuShare, memory, percentage(usage.memoryBytes, allocatable.get('memory'))];
  });
  return [NODE_COLUMNS, ...rows];
}

const totalUsage = (containers: readonly ContainerUsage[]): Usage => ({
  cpuNanoCores: containers.reduce((sum, { usage }) => sum + usage.cpuNanoCores, 0),
  memoryBytes: containers.reduce((sum, { usage }) => sum + usage.memoryBytes, 0),
});

/**
 * Returns the CPU and memory cells. Millicores are rounded up, as in `Quantity.MilliValue`, and mebibytes are rounded
 * down.
 */
const usageCells = ({ cpuNanoCores, memoryBytes }: Usage): string[] => [
  `${Math.ceil(cpuNanoCores / NANOS_IN_MILLI)}m`,
  `${Math.floor(memoryBytes / MIB)}Mi`,
];

function percentage(used: number, available = '0'): string {
  const availableAmount = Number(parseQuantity(available) ?? 0n) / 1e9;
  return availableAmount === 0 ? '<unknown>' : `${Math.trunc((used / availableAmount) * 100)}%`;
}

interface UsageRow {
  readonly namespace?: string;
  readonly name: string;
  readonly usage: Usage;
}

const compareUsage =
  (field: SortField | undefined) =>
  (a: UsageRow, b: UsageRow): number =>
    usageAmount(b, field) - usageAmount(a, field) ||
    compareStrings(a.namespace, b.namespace) ||
    compareStrings(a.name, b.name);

function usageAmount({ usage }: UsageRow, field: SortField | undefined): number {
  if (field === undefined) return 0;
  return field === 'cpu' ? usage.cpuNanoCores : usage.memoryBytes;
}

function compareStrings(a = '', b = ''): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
