/** Assembles the routes of the node's API. */
import { join } from 'node:path';
import { waitOnce } from '../../actors/alarm.ts';
import type { NodeAgent } from '../../actors/node/nodeAgent.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { Cri } from '../../cri/client/calls.ts';
import { type FileSystem, hostFiles } from '../../host/files/fileSystem.ts';
import { checkpointRoute } from '../../kubelet-api/checkpoint.ts';
import { flagsRoute } from '../../kubelet-api/debug/flags.ts';
import { profilesRoute } from '../../kubelet-api/debug/profiles.ts';
import type { Route } from '../../kubelet-api/exchange.ts';
import { healthRoutes } from '../../kubelet-api/listener/health.ts';
import { createConfigzRoute, flagzRoute, statuszRoute } from '../../kubelet-api/listener/pages.ts';
import { podsRoute, runningPodsRoute } from '../../kubelet-api/listener/pods.ts';
import { containerLogsRoute } from '../../kubelet-api/logs/container/containerLogs.ts';
import { systemLogsRoute } from '../../kubelet-api/logs/node/systemLogs.ts';
import type { NodeMetrics } from '../../kubelet-api/metrics/agent/nodeMetrics.ts';
import { cadvisorRoute } from '../../kubelet-api/metrics/cadvisor/cadvisor.ts';
import { resourceMetricsRoute } from '../../kubelet-api/metrics/resource.ts';
import { metricsRoutes } from '../../kubelet-api/metrics/routes.ts';
import type { StreamSessions } from '../../kubelet-api/sessions.ts';
import { summaryRoute } from '../../kubelet-api/stats/summary.ts';
import { streamingRoutes } from '../../kubelet-api/streaming/routes.ts';
import { createKubeletConfiguration } from '../config/configz.ts';
import type { NodeConfig } from '../config/nodeConfig.ts';
import { displayedFlags, maskedCommandLine } from '../config/shownFlags.ts';
import { createCadvisorHostReader } from '../host/cadvisorHost.ts';
import type { NodeStats } from '../host/nodeStats.ts';
import { ownVersion } from '../start/ownVersion.ts';
import { healthChecks } from './healthChecks.ts';

interface RouteDependencies {
  readonly config: NodeConfig;
  readonly agent: Pick<NodeAgent, 'knownPods' | 'pods' | 'health'>;
  readonly cri: Cri;
  readonly clock: Clock;
  readonly stats: NodeStats;
  /** The open streams to containers, and the logs that clients follow. */
  readonly sessions: StreamSessions;
  /** Sets the log level that corresponds to the kubelet's verbosity. Undefined if the level is fixed. */
  readonly setVerbosity?: ((verbosity: number) => void) | undefined;
  readonly files?: FileSystem;
  readonly metrics?: NodeMetrics | undefined;
}

/** Creates the routes. `paths` returns the paths that `/statusz` lists. */
export async function nodeApiRoutes(
  dependencies: RouteDependencies,
  paths: () => readonly string[],
): Promise<readonly Route[]> {
  const { config, agent, cri, clock, sessions, metrics } = dependencies;
  const { kubeletVersion = '', nodeVersion: runtimeVersion } = ownVersion();
  const status = { startedAt: clock.now(), now: () => clock.now(), kubeletVersion, runtimeVersion };
  const findPod = (namespace: string, name: string) =>
    agent.knownPods().find(({ metadata }) => metadata.namespace === namespace && metadata.name === name);
  return [
    ...healthRoutes(healthChecks(dependencies), metrics?.checkListener),
    ...(metrics ? metricsRoutes(metrics.registries) : []),
    podsRoute({ pods: agent.knownPods }),
    runningPodsRoute({ cri, timeoutMs: config.runtimeRequestTimeoutMs }),
    createConfigzRoute(() => createKubeletConfiguration(config)),
    statuszRoute({ ...status, paths }),
    flagzRoute(displayedFlags(config)),
    ...debuggingRoutes(dependencies),
    containerLogsRoute({
      pods: { findPod },
      cri,
      now: () => clock.now(),
      pause: createPause(clock),
      canSplitStreams: config.serving?.splitsLogs ?? false,
      sessions,
      logRoots: [config.podLogsDirectory],
    }),
    systemLogsRoute({
      root: SYSTEM_LOGS,
      journalctl: 'journalctl',
      areQueriesEnabled: config.serving?.hasLogQuery ?? false,
    }),
    ...usageRoutes(dependencies, status.startedAt),
    ...streamingRoutes({ pods: agent.knownPods, cri, clock, sessions }),
  ];
}

function debuggingRoutes({ config, agent, cri, clock, setVerbosity, files = hostFiles }: RouteDependencies): Route[] {
  const now = () => clock.now();
  const directory = join(config.rootDirectory, 'checkpoints');
  const limitMs = config.runtimeRequestTimeoutMs;
  return [
    profilesRoute({ clock, command: () => maskedCommandLine(process.argv) }),
    ...(setVerbosity ? [flagsRoute(setVerbosity)] : []),
    ...(config.serving?.supportsCheckpoints
      ? [checkpointRoute({ pods: agent.knownPods, cri, now, directory, files, limitMs })]
      : []),
  ];
}

/**
 * Returns the routes for the resource usage of the node, pods and containers. `startedAt` is in milliseconds since the
 * epoch.
 */
const usageRoutes = ({ agent, cri, clock, stats }: RouteDependencies, startedAt: number): readonly Route[] => [
  summaryRoute({ stats: stats.provider }),
  resourceMetricsRoute({ stats: stats.provider, startedAt }),
  cadvisorRoute({
    sample: (signal) => stats.collector.sample('everything', signal),
    host: createCadvisorHostReader({ cri, clock }),
    pods: agent.pods,
    now: () => clock.now(),
    startedAt,
  }),
];

const SYSTEM_LOGS = '/var/log';

/** Returns a function that waits for a number of milliseconds, or until the client disconnects. */
const createPause = (clock: Clock) => async (ms: number, signal: AbortSignal) => {
  if (!signal.aborted) await waitOnce(clock.now() + ms, clock, signal);
};
