/** Whether a node is ready, and why it is not: in the order and the words of a kubelet (`runtime.go` and `nodestatus/setters.go` of `pkg/kubelet`). */
import { goDuration } from '../../base/duration.ts';
import type { RuntimeReport } from './runtimeReport.ts';

/** What a node's being ready depends on. */
export interface NodeHealth {
  readonly runtime: RuntimeReport & { readonly ready: boolean };
  /** Whether the runtime was listed once; `staleSince` is when it was last, if it can not be now (ms since the epoch). */
  readonly pleg: { readonly hasListed: boolean; readonly staleSince?: number | undefined };
  /** Whether storage drivers can register: a node of a cluster has to make its CSINode first. */
  readonly isInitialized: boolean;
  readonly drains: boolean;
}

/** So long a runtime may be away, and a list of what it has be old. */
const RUNTIME_MS = 30_000;
const PLEG_MS = 180_000;

/** Nothing: it is ready. */
export function notReadyReasons({ runtime, pleg, isInitialized, drains }: NodeHealth, now: number): string[] {
  const plegTrouble = plegReason(pleg, now);
  return [
    ...runtimeReasons(runtime, now),
    ...(plegTrouble === undefined ? [] : [`PLEG is not healthy: ${plegTrouble}`]),
    ...(runtime.notReady === undefined ? [] : [runtime.notReady]),
    ...networkReasons(runtime),
    ...(isInitialized ? [] : ['CSINode is not yet initialized']),
    ...(drains ? ['node is shutting down'] : []),
  ];
}

/** Several as one message. */
export const reasonsText = (reasons: readonly string[]): string =>
  reasons.length > 1 ? `[${reasons.join(', ')}]` : reasons.join();

const isHealthy = ({ ready, lacksOnlyNetwork }: NodeHealth['runtime']): boolean => ready || lacksOnlyNetwork === true;

function runtimeReasons(runtime: NodeHealth['runtime'], now: number): string[] {
  if (isHealthy(runtime)) return [];
  if (runtime.seenAt === undefined) return ['container runtime status check may not have completed yet'];
  return now - runtime.seenAt >= RUNTIME_MS ? ['container runtime is down'] : [];
}

function networkReasons(runtime: NodeHealth['runtime']): string[] {
  if (runtime.networkNotReady !== undefined) return [runtime.networkNotReady];
  // It has not said anything yet.
  const isUnknown = !isHealthy(runtime) && runtime.seenAt === undefined && runtime.notReady === undefined;
  return isUnknown ? ['network state unknown'] : [];
}

function plegReason({ hasListed, staleSince }: NodeHealth['pleg'], now: number): string | undefined {
  if (!hasListed) return 'pleg has yet to be successful';
  const age = staleSince === undefined ? 0 : now - staleSince;
  return age > PLEG_MS
    ? `pleg was last seen active ${goDuration(age)} ago; threshold is ${goDuration(PLEG_MS)}`
    : undefined;
}
