/**
 * Defines the metrics of a cgroup's limits and creation time, with cAdvisor's names. Their samples have no timestamps.
 */
import type { CpuUsage, MemoryLimits } from '../../../host/cgroup/usage/cgroupUsage.ts';
import { createGauge, type Metric } from './metric.ts';

const WITHOUT_TIMESTAMP = { timestampOf: null };

const createCpuGauge = (name: string, help: string, read: (cpu: CpuUsage) => number | undefined): Metric =>
  createGauge(name, help, ({ usage }) => usage.cpu && read(usage.cpu), WITHOUT_TIMESTAMP);

/** Defines a metric of a memory limit. Its value is 0 if there is no limit. */
const createMemoryLimitGauge = (
  name: string,
  help: string,
  read: (limits: MemoryLimits) => number | undefined,
): Metric =>
  createGauge(
    `container_spec_memory_${name}_bytes`,
    help,
    ({ usage }) => usage.memory?.limits && (read(usage.memory.limits) ?? 0),
    WITHOUT_TIMESTAMP,
  );

const MS_PER_SECOND = 1_000;
const toWholeSeconds = (ms: number): number => Math.trunc(ms / MS_PER_SECOND);

/** Returns the metrics. `now` is in milliseconds since the epoch. */
export const specMetrics = (now: number): readonly Metric[] => [
  createGauge(
    'container_start_time_seconds',
    'Start time of the container since unix epoch in seconds.',
    ({ createdAt }) => (createdAt === undefined ? undefined : toWholeSeconds(createdAt)),
    WITHOUT_TIMESTAMP,
  ),
  createCpuGauge('container_spec_cpu_period', 'CPU period of the container.', ({ periodUs = 0 }) => periodUs),
  createCpuGauge('container_spec_cpu_quota', 'CPU quota of the container.', ({ quotaUs }) => quotaUs || undefined),
  createCpuGauge('container_spec_cpu_shares', 'CPU share of the container.', ({ shares = 0 }) => shares),
  createMemoryLimitGauge('limit', 'Memory limit for the container.', ({ limit }) => limit),
  createMemoryLimitGauge('swap_limit', 'Memory swap limit for the container.', ({ swap }) => swap),
  createMemoryLimitGauge(
    'reservation_limit',
    'Memory reservation limit for the container.',
    ({ reservation }) => reservation,
  ),
  createGauge('container_last_seen', 'Last time a container was seen by the exporter', () => toWholeSeconds(now), {
    timestampOf: () => now,
  }),
  // Always report -1, which means that there is no health check, because the CRI, unlike Docker, has none.
  createGauge('container_health_state', "The result of the container's health check", () => -1),
];
