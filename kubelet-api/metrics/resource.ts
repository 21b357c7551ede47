/**
 * Serves `/metrics/resource`, the source of a cluster's metrics API
 * (`pkg/kubelet/metrics/collectors/resource_metrics.go`).
 */
import type { StatsProvider } from '../../stats/node/statsProvider.ts';
import type { ContainerStats, NodeStats, PodStats, StatsTime, Summary } from '../../stats/node/summary.ts';
import type { Route } from '../exchange.ts';
import { formatLabels, generateChunks, type MetricFamily } from './exposition.ts';
import { sendMetrics } from './requests/sendMetrics.ts';

interface ResourceParts {
  readonly stats: Pick<StatsProvider, 'cpuAndMemory'>;
  /** The start of this process, in milliseconds since the epoch. */
  readonly startedAt: number;
}

export const resourceMetricsRoute = ({ stats, startedAt }: ResourceParts): Route => ({
  pathPrefix: '/metrics/resource',
  handle: async (exchange) => {
    const { summary, failure } = await stats.cpuAndMemory(exchange.signal);
    await sendMetrics(exchange, generateChunks(resourceFamilies(summary, failure === undefined)), startedAt);
  },
});

/** A measurement of the node, a pod or a container for one metric family. `value` is undefined if it is unknown. */
interface MetricReading {
  readonly value: number | undefined;
  /** If undefined, the sample has no timestamp. */
  readonly time?: StatsTime | undefined;
}

type ResourceUsage = Pick<ContainerStats, 'cpu' | 'memory' | 'swap'>;

interface FamilyDescription<T> {
  readonly name: string;
  readonly help: string;
  readonly type: MetricFamily['type'];
  readonly readMetric: (subject: T) => MetricReading;
}

const NS_PER_SECOND = 1e9;

const readCpu = ({ cpu: used }: ResourceUsage): MetricReading => ({
  value: used?.usageCoreNanoSeconds === undefined ? undefined : used.usageCoreNanoSeconds / NS_PER_SECOND,
  time: used?.time,
});
const readMemory = ({ memory: used }: ResourceUsage): MetricReading => ({
  value: used?.workingSetBytes,
  time: used?.time,
});
const readSwap = ({ swap: used }: ResourceUsage): MetricReading => ({ value: used?.swapUsageBytes, time: used?.time });
const readSwapLimit = ({ swap: used }: ResourceUsage): MetricReading => ({
  value: used?.swapAvailableBytes === undefined ? undefined : used.swapAvailableBytes + (used.swapUsageBytes ?? 0),
  time: used?.time,
});

const CPU_HELP = '[STABLE] Cumulative cpu time consumed by the';
const WORKING_SET_HELP = '[STABLE] Current working set of the';
const NOT_ON_WINDOWS_HELP = 'Reported only on non-windows systems';

const CONTAINER_FAMILIES: readonly FamilyDescription<ContainerStats>[] = [
  {
    name: 'container_cpu_usage_seconds_total',
    help: `${CPU_HELP} container in core-seconds`,
    type: 'counter',
    readMetric: readCpu,
  },
  {
    name: 'container_memory_working_set_bytes',
    help: `${WORKING_SET_HELP} container in bytes`,
    type: 'gauge',
    readMetric: readMemory,
  },
  {
    name: 'container_start_time_seconds',
    help: '[STABLE] Start time of the container since unix epoch in seconds',
    type: 'gauge',
    readMetric: ({ startTime }) => ({ value: startTime && startTime.ms > 0 ? startTime.ms / 1_000 : undefined }),
  },
  {
    name: 'container_swap_limit_bytes',
    help: `[ALPHA] Current amount of the container swap limit in bytes. ${NOT_ON_WINDOWS_HELP}`,
    type: 'gauge',
    readMetric: readSwapLimit,
  },
  {
    name: 'container_swap_usage_bytes',
    help: `[ALPHA] Current amount of the container swap usage in bytes. ${NOT_ON_WINDOWS_HELP}`,
    type: 'gauge',
    readMetric: readSwap,
  },
];

const NODE_FAMILIES: readonly FamilyDescription<NodeStats>[] = [
  {
    name: 'node_cpu_usage_seconds_total',
    help: `${CPU_HELP} node in core-seconds`,
    type: 'counter',
    readMetric: readCpu,
  },
  {
    name: 'node_memory_working_set_bytes',
    help: `${WORKING_SET_HELP} node in bytes`,
    type: 'gauge',
    readMetric: readMemory,
  },
  {
    name: 'node_swap_usage_bytes',
    help: `[ALPHA] Current swap usage of the node in bytes. ${NOT_ON_WINDOWS_HELP}`,
    type: 'gauge',
    readMetric: readSwap,
  },
];

const POD_FAMILIES: readonly FamilyDescription<PodStats>[] = [
  {
    name: 'pod_cpu_usage_seconds_total',
    help: `${CPU_HELP} pod in core-seconds`,
    type: 'counter',
    readMetric: readCpu,
  },
  {
    name: 'pod_memory_working_set_bytes',
    help: `${WORKING_SET_HELP} pod in bytes`,
    type: 'gauge',
    readMetric: readMemory,
  },
  {
    name: 'pod_swap_usage_bytes',
    help: `[ALPHA] Current amount of the pod swap usage in bytes. ${NOT_ON_WINDOWS_HELP}`,
    type: 'gauge',
    readMetric: readSwap,
  },
];

/** Returns the families sorted by name. `isComplete` is false if the runtime's containers could not be listed. */
export function resourceFamilies({ node, pods }: Summary, isComplete: boolean): MetricFamily[] {
  const latestStats = selectLatestPods(pods);
  const containerSubjects = latestStats.flatMap(({ podRef: { namespace, name }, containers }) =>
    containers.map((each) => withLabels(each, { container: each.name, namespace, pod: name })),
  );
  const podSubjects = latestStats.map((pod) =>
    withLabels(pod, { namespace: pod.podRef.namespace, pod: pod.podRef.name }),
  );
  return [
    ...buildFamilies(CONTAINER_FAMILIES, containerSubjects.toSorted(compareByLabels)),
    ...buildFamilies(NODE_FAMILIES, [withLabels(node, {})]),
    ...buildFamilies(POD_FAMILIES, podSubjects.toSorted(compareByLabels)),
    {
      name: 'resource_scrape_error',
      help: '[STABLE] 1 if there was an error while getting container metrics, 0 otherwise',
      type: 'gauge',
      samples: [{ labels: '', value: isComplete ? 0 : 1 }],
    },
  ];
}

/**
 * Returns the latest pod for each name. A pod and its successor can coexist, but each series may occur only once in a
 * scrape.
 */
function selectLatestPods(pods: readonly PodStats[]): readonly PodStats[] {
  const oldestFirst = pods.toSorted((left, right) => left.startTime.ms - right.startTime.ms);
  return [...new Map(oldestFirst.map((pod) => [`${pod.podRef.namespace}/${pod.podRef.name}`, pod])).values()];
}

interface LabeledSubject<T> {
  readonly subject: T;
  readonly labelValues: readonly string[];
  readonly labels: string;
}

/** Adds the formatted labels to the node, pod or container that they identify. The labels must be sorted by name. */
function withLabels<T>(subject: T, labels: Readonly<Record<string, string>>): LabeledSubject<T> {
  return { subject, labelValues: Object.values(labels), labels: formatLabels(Object.entries(labels)) };
}

function compareByLabels(
  { labelValues }: LabeledSubject<unknown>,
  { labelValues: otherValues }: LabeledSubject<unknown>,
): number {
  const index = labelValues.findIndex((value, index) => value !== otherValues[index]);
  return index < 0 ? 0 : (labelValues[index] ?? '') < (otherValues[index] ?? '') ? -1 : 1;
}

const buildFamilies = <T>(
  descriptions: readonly FamilyDescription<T>[],
  subjects: readonly LabeledSubject<T>[],
): MetricFamily[] =>
  descriptions.map(({ name, help, type, readMetric }) => ({
    name,
    help,
    type,
    samples: subjects.flatMap(({ subject, labels }) => {
      const { value, time } = readMetric(subject);
      return value === undefined ? [] : [{ labels, value, timestampMs: time?.ms }];
    }),
  }));
