/** What a cgroup is given, and when it was made and seen, as cAdvisor names it: none has the time of a sample. */
import type { CpuUsage, MemoryLimits } from '../../../host/cgroup/usage/cgroupUsage.ts';
import { gauge, type Metric } from './metric.ts';

const UNTIMED = { at: null };

const cpu = (name: string, help: string, take: (cpu: CpuUsage) => number | undefined): Metric =>
  gauge(name, help, ({ usage }) => usage.cpu && take(usage.cpu), UNTIMED);

/** 0: no limit. */
const memory = (name: string, help: string, take: (limits: MemoryLimits) => number | undefined): Metric =>
  gauge(
    `container_spec_memory_${name}_bytes`,
    help,
    ({ usage }) => usage.memory?.limits && (take(usage.memory.limits) ?? 0),
    UNTIMED,
  );

const MS = 1_000;
const wholeSeconds = (ms: number): number => Math.trunc(ms / MS);

/** `now`: milliseconds since the epoch. */
export const specMetrics = (now: number): readonly Metric[] => [
  gauge(
    'container_start_time_seconds',
    'Start time of the container since unix epoch in seconds.',
    ({ madeAt }) => (madeAt === undefined ? undefined : wholeSeconds(madeAt)),
    UNTIMED,
  ),
  cpu('container_spec_cpu_period', 'CPU period of the container.', ({ periodUs = 0 }) => periodUs),
  cpu('container_spec_cpu_quota', 'CPU quota of the container.', ({ quotaUs }) => quotaUs || undefined),
  cpu('container_spec_cpu_shares', 'CPU share of the container.', ({ shares = 0 }) => shares),
  memory('limit', 'Memory limit for the container.', ({ limit }) => limit),
  memory('swap_limit', 'Memory swap limit for the container.', ({ swap }) => swap),
  memory('reservation_limit', 'Memory reservation limit for the container.', ({ reservation }) => reservation),
  gauge('container_last_seen', 'Last time a container was seen by the exporter', () => wholeSeconds(now), {
    at: () => now,
  }),
  // No runtime tells of checks of its own, which this stands for: -1 is "none".
  gauge('container_health_state', "The result of the container's health check", () => -1),
];
