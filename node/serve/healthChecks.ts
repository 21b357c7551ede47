/** What of the agent is looked at by those who ask whether it is well: at `/healthz`, and systemd's watchdog. */

import type { NodeAgent } from '../../actors/node/nodeAgent.ts';
import type { Clock } from '../../base/clock.ts';
import { goDuration } from '../../base/duration.ts';
import { type Check, PING } from '../../kubelet-api/listener/health.ts';
import type { RuntimeHealth } from '../../machines/shared/events.ts';
import type { NodeConfig } from '../config/nodeConfig.ts';

interface CheckedParts {
  readonly agent: Pick<NodeAgent, 'health'>;
  readonly config: NodeConfig;
  readonly clock: Clock;
}

/** Each throws why not; in the order of a kubelet (`InstallAuthNotRequiredHandlers` in `pkg/kubelet/server/server.go`). */
export const healthChecks = (parts: CheckedParts): readonly Check[] => [PING, LOG, syncLoop(parts), DEVICE_PLUGINS];

/** What is logged here is written at once: nothing waits to be flushed. */
const LOG: Check = { name: 'log', check: () => {} };

/** A kubelet's fails where nobody can register plugins; here nobody can, and nobody waits to. */
const DEVICE_PLUGINS: Check = { name: 'device-plugin', check: () => {} };

const LEAST_IDLE_MS = 300_000;
const SYNC_MS = 60_000;

/**
 * Fails as a kubelet's check does while its sync loop stands still, because the runtime is away or cannot be listed. A loop
 * that has not started is not late, and a runtime that only misses its network does not stop the loop
 * (`SyncLoopHealthCheck`, `syncLoop` in `pkg/kubelet/kubelet.go`, `runtimeErrors` in `pkg/kubelet/runtime.go`).
 */
function syncLoop({ agent, config, clock }: CheckedParts): Check {
  const limitMs = Math.max(LEAST_IDLE_MS, 2 * (config.cluster?.objects.syncMs ?? SYNC_MS));
  return {
    name: 'syncloop',
    check: () => {
      const { runtime, pleg } = agent.health();
      const since = [awaySince(runtime), pleg.staleSince].filter((each) => each !== undefined);
      const idleMs = Math.max(0, ...since.map((each) => clock.now() - each));
      if (idleMs > limitMs) throw new Error(`sync Loop took longer than expected: ${goDuration(idleMs)}`);
    },
  };
}

/** When a runtime that was there went away, in milliseconds since the epoch. Undefined if it is there or never was. */
function awaySince({ ready, lacksOnlyNetwork, seenAt, since }: RuntimeHealth): number | undefined {
  return ready || lacksOnlyNetwork || seenAt === undefined ? undefined : since;
}
