import { type NodeHealth, notReadyReasons } from '../../../kubernetes/node/readiness.ts';
import type { NodeEvent, RuntimeHealth } from '../../shared/events/events.ts';
import type { NodeContext } from '../context.ts';

/** Returns the state from which the readiness of the node is derived. A node without a cluster needs no CSINode. */
export const nodeHealth = (
  { health: runtime, observed, pleg, cluster, registration, isShuttingDown }: NodeContext,
  isDraining: boolean,
): NodeHealth & { readonly runtime: RuntimeHealth } => ({
  runtime,
  pleg: { hasListed: observed !== undefined, staleSince: pleg.staleSince },
  isInitialized: cluster === undefined || registration?.isInitialized === true,
  isDraining: isDraining || isShuttingDown,
});

/** Returns the readiness after an event, or the same object if nothing has changed. Draining is reported separately. */
export function nextReadiness(context: NodeContext, event: NodeEvent): NodeContext['readiness'] {
  const { since: reportedAt = context.lastFactAt } = event.type === 'runtime.healthChanged' ? event.health : {};
  const now = 'at' in event ? event.at : reportedAt;
  const isReady = notReadyReasons(nodeHealth(context, false), now).length === 0;
  return isReady === context.readiness.isReady ? context.readiness : { isReady, since: now };
}
