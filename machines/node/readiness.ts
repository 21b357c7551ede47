/** What the node's being ready depends on, as it knows it, and since when it is so. */
import { type NodeHealth, notReadyReasons } from '../../kubernetes/node/readiness.ts';
import type { NodeEvent, RuntimeHealth } from '../shared/events.ts';
import type { NodeContext } from './context.ts';

/** A node without a cluster has no CSINode to make. */
export const healthOf = (
  { health: runtime, observed, pleg, cluster, registration }: NodeContext,
  drains: boolean,
): NodeHealth & { readonly runtime: RuntimeHealth } => ({
  runtime,
  pleg: { hasListed: observed !== undefined, staleSince: pleg.staleSince },
  isInitialized: cluster === undefined || registration?.isInitialized === true,
  drains,
});

/** The same where nothing has changed; when it drains is told apart. */
export function readinessAfter(context: NodeContext, event: NodeEvent): NodeContext['readiness'] {
  const { since: told = context.heardAt } = event.type === 'runtime.healthChanged' ? event.health : {};
  const now = 'at' in event ? event.at : told;
  const isReady = notReadyReasons(healthOf(context, false), now).length === 0;
  return isReady === context.readiness.isReady ? context.readiness : { isReady, since: now };
}
