/**
 * Computes the termination of a pod, including its grace period and its active deadline, and decides which of two
 * terminations takes precedence.
 */
import { DEADLINE_EXCEEDED } from '../../kubernetes/status/phase.ts';
import type { Termination } from '../../kubernetes/status/view.ts';
import type { PodContext } from './context.ts';

/** Returns the deadline of all containers, which share one grace period (C11). */
export const deadlineOf = ({ at, graceSeconds }: Termination): number => at + graceSeconds * 1_000;

/**
 * Whether the terminated pod remains until no source contains it any longer, because it completed or the node itself
 * initiated the termination.
 */
export const remainsAfterTermination = (termination: Termination | undefined): boolean =>
  termination?.reason === 'Completed' || termination?.staysUntilUnlisted === true;

/**
 * Merges a later termination into the current one. It may shorten the grace period but never extend it (C10). A later
 * termination replaces a completion. The pod remains on the node until its source no longer contains it only if both
 * terminations require this. The grace periods are compared in addition to the deadlines, because setting the clock
 * back makes every later deadline look earlier.
 */
export function mergeTermination(
  currentTermination: Termination | undefined,
  laterTermination: Termination,
): Termination {
  if (currentTermination === undefined) return laterTermination;
  // Ignore the API server's phase of a terminating pod, because it is usually the phase that this node reported.
  if (laterTermination.reason === 'EndedElsewhere') return currentTermination;
  if (currentTermination.reason === 'Completed')
    return currentTermination.exceedsDeadline ? { ...laterTermination, exceedsDeadline: true } : laterTermination;
  const { staysUntilUnlisted = false, ...cause } = currentTermination;
  const progressReports = laterTermination.isAwaited ? { isAwaited: true } : {};
  const isSooner =
    laterTermination.graceSeconds < currentTermination.graceSeconds &&
    deadlineOf(laterTermination) < deadlineOf(currentTermination);
  const shortenedGracePeriod = isSooner ? { at: laterTermination.at, graceSeconds: laterTermination.graceSeconds } : {};
  return {
    ...cause,
    ...shortenedGracePeriod,
    ...progressReports,
    ...(staysUntilUnlisted && laterTermination.staysUntilUnlisted ? { staysUntilUnlisted } : {}),
  };
}

/**
 * Returns the termination of a pod whose active deadline has passed. The grace period starts at `at`, when the node
 * detects the exceeded deadline, even if the deadline passed long ago (C10).
 */
const deadlineExceededTermination = ({ allocated }: PodContext, at: number): Termination => ({
  reason: 'DeadlineExceeded',
  message: DEADLINE_EXCEEDED,
  graceSeconds: allocated.spec.terminationGracePeriodSeconds ?? 30,
  phase: 'Failed',
  at,
  staysUntilUnlisted: true,
});

/**
 * Adds an exceeded active deadline to the pod's termination. A pod that is already terminating retains its grace period
 * and its cause, but its failure is attributed to the deadline.
 */
export const withExceededDeadline = (context: PodContext, at: number): Termination =>
  context.termination ? { ...context.termination, exceedsDeadline: true } : deadlineExceededTermination(context, at);

/**
 * Returns the time limit in milliseconds for a termination that the node itself initiated. It is one and a half times
 * the grace period, but at least 10 s (`killPodNow` in `pkg/kubelet/pod_workers.go`).
 */
export const killLimitMs = ({ graceSeconds }: Termination): number =>
  Math.max(10, graceSeconds + Math.trunc(graceSeconds / 2)) * 1_000;

/**
 * Returns the deadline of a termination that the node itself initiated, in milliseconds since the epoch. Undefined for
 * any other pod.
 */
export const computeKillDeadline = ({ termination }: PodContext): number | undefined =>
  termination !== undefined && isInitiatedByNode(termination) ? termination.at + killLimitMs(termination) : undefined;

/** Whether the node itself initiated the termination. */
const isInitiatedByNode = ({ reason }: Termination): boolean =>
  reason === 'Preempting' || reason === 'Evicted' || reason === 'Terminated';

/**
 * Returns the time after which the pod is reported as DeadlineExceeded. Undefined once the pod's containers and sandbox
 * have stopped. The deadline also applies while the pod terminates for another reason (the calls of
 * `generateAPIPodStatus` in `SyncTerminatingPod` of `pkg/kubelet/kubelet.go`).
 */
export function computeActiveDeadline(context: PodContext): number | undefined {
  const { allocated, restored: restoredStatus, startedAt } = context;
  const deadlineSeconds = allocated.spec.activeDeadlineSeconds;
  if (deadlineSeconds === undefined || restoredStatus !== undefined || hasSandboxStopped(context)) return undefined;
  return isPhaseFixed(context.termination) ? undefined : startedAt + deadlineSeconds * 1_000;
}

const hasSandboxStopped = ({ sandbox, stopped: stoppedSandboxes }: PodContext): boolean =>
  stoppedSandboxes !== undefined && sandbox?.state !== 'ready';

/** Whether an exceeded deadline can no longer change the pod's status, or the status is no longer read. */
function isPhaseFixed(termination: Termination | undefined): boolean {
  if (termination === undefined) return false;
  const { exceedsDeadline, isUnreported, reason } = termination;
  return (
    exceedsDeadline === true || isUnreported === true || reason === 'DeadlineExceeded' || reason === 'EndedElsewhere'
  );
}
