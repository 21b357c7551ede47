/**
 * Determines whether a node is ready and, if it is not, the reasons why, in the order and wording of the kubelet
 * (`runtime.go` and `nodestatus/setters.go` of `pkg/kubelet`).
 */
import { goDuration } from '../../base/time/duration.ts';
import type { RuntimeReport } from './runtimeReport.ts';

/** State that determines the readiness of a node. */
export interface NodeHealth {
  readonly runtime: RuntimeReport & { readonly ready: boolean };
  /**
   * `hasListed` is true once the runtime's objects have been listed. `staleSince` is the time at which they were last
   * listed successfully, in milliseconds since the epoch. It is defined only while listing fails.
   */
  readonly pleg: { readonly hasListed: boolean; readonly staleSince?: number | undefined };
  /** Whether storage drivers can register with the node. In a cluster, the node must have created its CSINode first. */
  readonly isInitialized: boolean;
  readonly isDraining: boolean;
}

/** Maximum time without a response from the runtime, in milliseconds. After that, the node is not ready. */
const MAX_RUNTIME_SILENCE_MS = 30_000;
const MAX_PLEG_AGE_MS = 180_000;

/** Returns the reasons why the node is not ready, or an empty list if it is ready. */
export function notReadyReasons({ runtime, pleg, isInitialized, isDraining }: NodeHealth, now: number): string[] {
  const plegProblem = plegReason(pleg, now);
  return [
    ...runtimeReasons(runtime, now),
    ...(plegProblem === undefined ? [] : [`PLEG is not healthy: ${plegProblem}`]),
    ...(runtime.notReadyMessage === undefined ? [] : [runtime.notReadyMessage]),
    ...networkReasons(runtime),
    ...(isInitialized ? [] : ['CSINode is not yet initialized']),
    ...(isDraining ? ['node is shutting down'] : []),
  ];
}

/** Joins several reasons into one message. */
export const joinReasons = (reasons: readonly string[]): string =>
  reasons.length > 1 ? `[${reasons.join(', ')}]` : reasons.join();

const isHealthy = ({ ready, lacksOnlyNetwork }: NodeHealth['runtime']): boolean => ready || lacksOnlyNetwork === true;

function runtimeReasons(runtime: NodeHealth['runtime'], now: number): string[] {
  if (isHealthy(runtime)) return [];
  if (runtime.seenAt === undefined) return ['container runtime status check may not have completed yet'];
  return now - runtime.seenAt >= MAX_RUNTIME_SILENCE_MS ? ['container runtime is down'] : [];
}

function networkReasons(runtime: NodeHealth['runtime']): string[] {
  if (runtime.networkNotReady !== undefined) return [runtime.networkNotReady];
  // Whether the runtime has not reported a status yet.
  const isUnknown = !isHealthy(runtime) && runtime.seenAt === undefined && runtime.notReadyMessage === undefined;
  return isUnknown ? ['network state unknown'] : [];
}

function plegReason({ hasListed, staleSince }: NodeHealth['pleg'], now: number): string | undefined {
  if (!hasListed) return 'pleg has yet to be successful';
  const age = staleSince === undefined ? 0 : now - staleSince;
  return age > MAX_PLEG_AGE_MS
    ? `pleg was last seen active ${goDuration(age)} ago; threshold is ${goDuration(MAX_PLEG_AGE_MS)}`
    : undefined;
}
