/** `/metrics/resource`: what the metrics API of a cluster is computed from (`pkg/kubelet/metrics/collectors/resource_metrics.go`). */
import type { StatsProvider } from '../../stats/node/provider.ts';
import type { ContainerStats, NodeStats, PodStats, StatsTime, Summary } from '../../stats/node/summary.ts';
import type { Route } from '../exchange.ts';
import { expositionChunks, type Family, labelText } from './exposition.ts';
import { answerMetrics } from './requests/answerMetrics.ts';

interface ResourceParts {
  readonly stats: Pick<StatsProvider, 'cpuAndMemory'>;
  /** When this process began, in milliseconds since the epoch. */
  readonly startedAt: number;
}

export const resourceMetricsRoute = ({ stats, startedAt }: ResourceParts): Route => ({
  tree: '/metrics/resource',
  answer: async (exchange) => {
    const { summary, failure } = await stats.cpuAndMemory(exchange.signal);
    await answerMetrics(exchange, expositionChunks(resourceFamilies(summary, failure === undefined)), startedAt);
  },
});

/** What one of the node, of a pod or of a container has for a family. */
interface Value {
  readonly value: number | undefined;
  /** Absent: it is told without a time. */
  readonly time?: StatsTime | undefined;
}

type Used = Pick<ContainerStats, 'cpu' | 'memory' | 'swap'>;

interface Described<T> {
  readonly name: string;
  readonly help: string;
  readonly type: Family['type'];
  readonly of: (what: T) => Value;
}

const NS = 1e9;

const cpu = ({ cpu: used }: Used): Value => ({
  value: used?.usageCoreNanoSeconds === undefined ? undefined : used.usageCoreNanoSeconds / NS,
  time: used?.time,
});
const memory = ({ memory: used }: Used): Value => ({ value: used?.workingSetBytes, time: used?.time });
const swap = ({ swap: used }: Used): Value => ({ value: used?.swapUsageBytes, time: used?.time });
const swapLimit = ({ swap: used }: Used): Value => ({
  value: used?.swapAvailableBytes === undefined ? undefined : used.swapAvailableBytes + (used.swapUsageBytes ?? 0),
  time: used?.time,
});

const CPU = '[STABLE] Cumulative cpu time consumed by the';
const WORKING_SET = '[STABLE] Current working set of the';
const SYSTEMS = 'Reported only on non-windows systems';

/** In the order of their names, as are those below. */
const OF_CONTAINERS: readonly Described<ContainerStats>[] = [
  { name: 'container_cpu_usage_seconds_total', help: `${CPU} container in core-seconds`, type: 'counter', of: cpu },
  {
    name: 'container_memory_working_set_bytes',
    help: `${WORKING_SET} container in bytes`,
    type: 'gauge',
    of: memory,
  },
  {
    name: 'container_start_time_seconds',
    help: '[STABLE] Start time of the container since unix epoch in seconds',
    type: 'gauge',
    of: ({ startTime: { ms } }) => ({ value: ms > 0 ? ms / 1_000 : undefined }),
  },
  {
    name: 'container_swap_limit_bytes',
    help: `[ALPHA] Current amount of the container swap limit in bytes. ${SYSTEMS}`,
    type: 'gauge',
    of: swapLimit,
  },
  {
    name: 'container_swap_usage_bytes',
    help: `[ALPHA] Current amount of the container swap usage in bytes. ${SYSTEMS}`,
    type: 'gauge',
    of: swap,
  },
];

const OF_NODE: readonly Described<NodeStats>[] = [
  { name: 'node_cpu_usage_seconds_total', help: `${CPU} node in core-seconds`, type: 'counter', of: cpu },
  { name: 'node_memory_working_set_bytes', help: `${WORKING_SET} node in bytes`, type: 'gauge', of: memory },
  {
    name: 'node_swap_usage_bytes',
    help: `[ALPHA] Current swap usage of the node in bytes. ${SYSTEMS}`,
    type: 'gauge',
    of: swap,
  },
];

const OF_PODS: readonly Described<PodStats>[] = [
  { name: 'pod_cpu_usage_seconds_total', help: `${CPU} pod in core-seconds`, type: 'counter', of: cpu },
  { name: 'pod_memory_working_set_bytes', help: `${WORKING_SET} pod in bytes`, type: 'gauge', of: memory },
  {
    name: 'pod_swap_usage_bytes',
    help: `[ALPHA] Current amount of the pod swap usage in bytes. ${SYSTEMS}`,
    type: 'gauge',
    of: swap,
  },
];

/** All of them. `isComplete`: whether the runtime has told what runs. */
export function resourceFamilies({ node, pods }: Summary, isComplete: boolean): Family[] {
  const latest = latestOf(pods);
  const containers = latest.flatMap(({ podRef: { namespace, name }, containers: all }) =>
    all.map((each) => labelled(each, { container: each.name, namespace, pod: name })),
  );
  const ofPods = latest.map((pod) => labelled(pod, { namespace: pod.podRef.namespace, pod: pod.podRef.name }));
  return [
    ...familiesOf(OF_CONTAINERS, containers.toSorted(byLabels)),
    ...familiesOf(OF_NODE, [labelled(node, {})]),
    ...familiesOf(OF_PODS, ofPods.toSorted(byLabels)),
    {
      name: 'resource_scrape_error',
      help: '[STABLE] 1 if there was an error while getting container metrics, 0 otherwise',
      type: 'gauge',
      samples: [{ labels: '', value: isComplete ? 0 : 1 }],
    },
  ];
}

/** A pod and the one that comes after it may have the same name for a while: a text must not have both. */
function latestOf(pods: readonly PodStats[]): readonly PodStats[] {
  const byAge = pods.toSorted((one, other) => one.startTime.ms - other.startTime.ms);
  return [...new Map(byAge.map((pod) => [`${pod.podRef.namespace}/${pod.podRef.name}`, pod])).values()];
}

interface Labelled<T> {
  readonly what: T;
  readonly values: readonly string[];
  readonly labels: string;
}

/** In the order of their names. */
function labelled<T>(what: T, labels: Readonly<Record<string, string>>): Labelled<T> {
  return { what, values: Object.values(labels), labels: labelText(Object.entries(labels)) };
}

function byLabels({ values }: Labelled<unknown>, { values: others }: Labelled<unknown>): number {
  const at = values.findIndex((value, index) => value !== others[index]);
  return at < 0 ? 0 : (values[at] ?? '') < (others[at] ?? '') ? -1 : 1;
}

const familiesOf = <T>(described: readonly Described<T>[], all: readonly Labelled<T>[]): Family[] =>
  described.map(({ name, help, type, of }) => ({
    name,
    help,
    type,
    samples: all.flatMap(({ what, labels }) => {
      const { value, time } = of(what);
      return value === undefined ? [] : [{ labels, value, at: time?.ms }];
    }),
  }));
