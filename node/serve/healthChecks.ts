/** Implements the health checks of the agent, for `/healthz` and for systemd's watchdog. */
import type { NodeAgent } from '../../actors/node/nodeAgent.ts';
import type { Clock } from '../../base/time/clock.ts';
import { goDuration } from '../../base/time/duration.ts';
import { type HealthCheck, PING_CHECK } from '../../kubelet-api/listener/health.ts';
import type { RuntimeHealth } from '../../machines/shared/events/events.ts';
import type { NodeConfig } from '../config/nodeConfig.ts';

interface HealthCheckDependencies {
  readonly agent: Pick<NodeAgent, 'health'>;
  readonly config: Pick<NodeConfig, 'syncFrequencyMs'>;
  readonly clock: Clock;
}

/**
 * Returns the checks in the same order as the kubelet (`InstallAuthNotRequiredHandlers` in
 * `pkg/kubelet/server/server.go`).
 */
export const healthChecks = (dependencies: HealthCheckDependencies): readonly HealthCheck[] => [
  PING_CHECK,
  LOG_CHECK,
  createSyncLoopCheck(dependencies),
  DEVICE_PLUGINS_CHECK,
];

/** Always passes, because log lines are written synchronously. */
const LOG_CHECK: HealthCheck = { name: 'log', runCheck: () => {} };

/**
 * Always passes, because the node keeps retrying until device plugins can register, and meanwhile explains why they
 * cannot.
 */
const DEVICE_PLUGINS_CHECK: HealthCheck = { name: 'device-plugin', runCheck: () => {} };

const MIN_IDLE_LIMIT_MS = 300_000;

/**
 * Fails once a kubelet's sync loop would have been blocked for too long, because the runtime is unreachable or does not
 * list its containers. Passes before the runtime has been reached for the first time, and while only the runtime's
 * network is not ready (`SyncLoopHealthCheck`, `createSyncLoopCheck` in `pkg/kubelet/kubelet.go`, `runtimeErrors` in
 * `pkg/kubelet/runtime.go`).
 */
function createSyncLoopCheck({ agent, config, clock }: HealthCheckDependencies): HealthCheck {
  const limitMs = Math.max(MIN_IDLE_LIMIT_MS, 2 * config.syncFrequencyMs);
  return {
    name: 'syncloop',
    runCheck: () => {
      const { runtime, pleg } = agent.health();
      const stallTimes = [runtimeUnreachableSince(runtime), pleg.staleSince].filter((since) => since !== undefined);
      const idleMs = Math.max(0, ...stallTimes.map((since) => clock.now() - since));
      if (idleMs > limitMs) throw new Error(`sync Loop took longer than expected: ${goDuration(idleMs)}`);
    },
  };
}

/**
 * Returns the time at which the runtime became unreachable, in milliseconds since the epoch. Returns undefined if it is
 * reachable or has never been reached.
 */
function runtimeUnreachableSince({ ready, lacksOnlyNetwork, seenAt, since }: RuntimeHealth): number | undefined {
  return ready || lacksOnlyNetwork || seenAt === undefined ? undefined : since;
}
