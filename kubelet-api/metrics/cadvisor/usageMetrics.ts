/**
 * Defines the metrics of CPU, memory, processes and pressure, with cAdvisor's names (`metrics/prometheus.go` of
 * cAdvisor).
 */
import type { CpuUsage, MemoryUsage, Pressure } from '../../../host/cgroup/usage/cgroupUsage.ts';
import { createCounter, createGauge, type LabelledValue, type Metric, nsToSeconds, usToSeconds } from './metric.ts';
import type { Row } from './row.ts';

const readCpu = (read: (cpu: CpuUsage) => number | undefined) => (row: Row) =>
  row.usage.cpu === undefined ? undefined : read(row.usage.cpu);

/** Reads a throttling value, which is undefined for a cgroup without a CPU quota. */
const readThrottling = (read: (cpu: CpuUsage) => number) =>
  readCpu((usage) => (usage.quotaUs ? read(usage) : undefined));

const CPU_METRICS: readonly Metric[] = [
  createCounter(
    ...(['container_cpu_user_seconds_total', 'Cumulative user cpu time consumed in seconds.'] as const),
    readCpu(({ userNs }) => nsToSeconds(userNs)),
  ),
  createCounter(
    ...(['container_cpu_system_seconds_total', 'Cumulative system cpu time consumed in seconds.'] as const),
    readCpu(({ systemNs }) => nsToSeconds(systemNs)),
  ),
  createCounter('container_cpu_usage_seconds_total', 'Cumulative cpu time consumed in seconds.', ({ usage }) => {
    const usedNs = usage.cpu?.usageNs ?? 0;
    return usedNs > 0 ? [{ labels: [['cpu', 'total']], value: nsToSeconds(usedNs) }] : [];
  }),
  createCounter(
    ...(['container_cpu_cfs_periods_total', 'Number of elapsed enforcement period intervals.'] as const),
    readThrottling(({ periods }) => periods ?? 0),
  ),
  createCounter(
    ...(['container_cpu_cfs_throttled_periods_total', 'Number of throttled period intervals.'] as const),
    readThrottling(({ throttledPeriods }) => throttledPeriods ?? 0),
  ),
  createCounter(
    'container_cpu_cfs_throttled_seconds_total',
    'Total time duration the container has been throttled.',
    readThrottling(({ throttledNs }) => nsToSeconds(throttledNs)),
  ),
  createCounter(
    ...(['container_cpu_cfs_burst_periods_total', 'Number of periods when burst occurs.'] as const),
    readThrottling(({ bursts }) => bursts ?? 0),
  ),
  createCounter(
    'container_cpu_cfs_burst_seconds_total',
    'Total time duration the container has been bursted.',
    readThrottling(({ burstNs }) => nsToSeconds(burstNs)),
  ),
];

/** Reads a memory value. As in cAdvisor, a count that the kernel does not provide is 0. */
const readMemory = (read: (memory: MemoryUsage) => number | undefined) => (row: Row) =>
  row.usage.memory === undefined ? undefined : (read(row.usage.memory) ?? 0);

const pageFaultValues = ({ usage }: Row): readonly LabelledValue[] => {
  if (usage.memory === undefined) return [];
  const { pageFaults = 0, majorPageFaults = 0 } = usage.memory;
  return ['container', 'hierarchy'].flatMap((scope) => [
    {
      labels: [
        ['failure_type', 'pgfault'],
        ['scope', scope],
      ],
      value: pageFaults,
    },
    {
      labels: [
        ['failure_type', 'pgmajfault'],
        ['scope', scope],
      ],
      value: majorPageFaults,
    },
  ]);
};

const MEMORY_METRICS: readonly Metric[] = [
  createGauge(
    'container_memory_cache',
    'Number of bytes of page cache memory.',
    readMemory(({ cache }) => cache),
  ),
  createGauge(
    'container_memory_rss',
    'Size of RSS in bytes.',
    readMemory(({ rss }) => rss),
  ),
  createGauge(
    'container_memory_kernel_usage',
    'Size of kernel memory allocated in bytes.',
    readMemory(({ kernel }) => kernel),
  ),
  createGauge(
    ...(['container_memory_mapped_file', 'Size of memory mapped files in bytes.'] as const),
    readMemory(({ mappedFile }) => mappedFile),
  ),
  createGauge(
    'container_memory_swap',
    'Container swap usage in bytes.',
    readMemory(({ swap }) => swap),
  ),
  createCounter(
    'container_memory_failcnt',
    'Number of memory usage hits limits',
    readMemory(({ failcnt }) => failcnt),
  ),
  createGauge(
    'container_memory_usage_bytes',
    'Current memory usage in bytes, including all memory regardless of when it was accessed',
    readMemory(({ usage }) => usage),
  ),
  createGauge(
    'container_memory_max_usage_bytes',
    'Maximum memory usage recorded in bytes',
    readMemory(({ max }) => max),
  ),
  createGauge(
    ...(['container_memory_working_set_bytes', 'Current working set in bytes.'] as const),
    readMemory(({ workingSet }) => workingSet),
  ),
  createGauge(
    ...(['container_memory_total_active_file_bytes', 'Current total active file in bytes.'] as const),
    readMemory(({ activeFile }) => activeFile),
  ),
  createGauge(
    ...(['container_memory_total_inactive_file_bytes', 'Current total inactive file in bytes.'] as const),
    readMemory(({ inactiveFile }) => inactiveFile),
  ),
  createCounter('container_memory_failures_total', 'Cumulative count of memory allocation failures.', pageFaultValues),
  createCounter(
    'container_oom_events_total',
    'Count of out of memory events observed for the container',
    ({ usage }) => usage.memory?.oomEvents,
  ),
];

/** A value is 0 if there is no limit, or if the cgroup, e.g. the root cgroup, does not provide the count. */
const PROCESS_METRICS: readonly Metric[] = [
  createGauge(
    'container_processes',
    'Number of processes running inside the container.',
    ({ usage }) => usage.pids && (usage.pids.processes?.length ?? 0),
  ),
  createGauge(
    'container_file_descriptors',
    'Number of open file descriptors for the container.',
    ({ files }) => files?.openCount,
  ),
  createGauge('container_sockets', 'Number of open sockets for the container.', ({ files }) => files?.socketCount),
  createGauge(
    'container_threads_max',
    'Maximum number of threads allowed inside the container, infinity if value is zero',
    ({ usage }) => usage.pids && (usage.pids.threadsLimit ?? 0),
  ),
  createGauge(
    'container_threads',
    'Number of threads running inside the container',
    ({ usage }) => usage.pids && (usage.pids.threads ?? 0),
  ),
  createGauge(
    'container_ulimits_soft',
    'Soft ulimit values for the container root process. Unlimited if -1, except priority and nice',
    ({ files }) =>
      files?.softLimit === undefined ? [] : [{ labels: [['ulimit', 'max_open_files']], value: files.softLimit }],
  ),
];

/**
 * Reads a pressure value. In the kernel's terms, `some` means that some tasks are stalled, and `full` that all tasks
 * are.
 */
function readPressure(resource: 'cpu' | 'memory' | 'io', kind: keyof Pressure) {
  return ({ usage: { pressure } }: Row) => pressure && usToSeconds(pressure[resource]?.[kind].totalUs);
}

const STALLED_HELP = 'Total time duration no tasks in the container could make progress due to';
const WAITING_HELP = 'Total time duration tasks in the container have waited due to';

const PRESSURE_METRICS: readonly Metric[] = (['cpu', 'memory', 'io'] as const).flatMap((resource) => {
  const congestionText = `${resource === 'memory' ? resource : resource.toUpperCase()} congestion.`;
  const name = `container_pressure_${resource}`;
  return [
    createCounter(`${name}_stalled_seconds_total`, `${STALLED_HELP} ${congestionText}`, readPressure(resource, 'full')),
    createCounter(`${name}_waiting_seconds_total`, `${WAITING_HELP} ${congestionText}`, readPressure(resource, 'some')),
  ];
});

export const USAGE_METRICS: readonly Metric[] = [
  ...CPU_METRICS,
  ...MEMORY_METRICS,
  ...PROCESS_METRICS,
  ...PRESSURE_METRICS,
];
