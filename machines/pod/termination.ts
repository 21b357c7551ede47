/** By when, and why, a pod ends: its grace, its active deadline, and which of two commands counts. */
import { DEADLINE_EXCEEDED } from '../../kubernetes/status/phase.ts';
import type { Termination } from '../../kubernetes/status/view.ts';
import type { PodContext } from './context.ts';

/** The moment by which every container must have ended: all share one grace (C11). */
export const deadlineOf = ({ at, graceSeconds }: Termination): number => at + graceSeconds * 1_000;

/** Whether the pod stays as one that has ended until nobody wants it: it completed, or the node ended it for its own reasons. */
export const staysAfterwards = (termination: Termination | undefined): boolean =>
  termination?.reason === 'Completed' || termination?.stays === true;

/**
 * A later command may end the pod sooner, never later (C10); it replaces a mere completion, and one that removes it wins.
 * Only one with a shorter grace ends it sooner: that its deadline seems nearer otherwise is the clock that was set back.
 */
export function mergeTermination(present: Termination | undefined, next: Termination): Termination {
  if (present === undefined) return next;
  // What the server says of a pod that ends is most often what it was told by the node itself.
  if (next.reason === 'EndedElsewhere') return present;
  if (present.reason === 'Completed') return present.exceedsDeadline ? { ...next, exceedsDeadline: true } : next;
  const { stays = false, ...cause } = present;
  const isSooner = next.graceSeconds < present.graceSeconds && deadlineOf(next) < deadlineOf(present);
  const nearer = isSooner ? { at: next.at, graceSeconds: next.graceSeconds } : {};
  return { ...cause, ...nearer, ...(stays && next.stays ? { stays } : {}) };
}

/**
 * The end of a pod that was active for longer than it may be, within its own grace: all of it from `at`, when that is
 * noticed, however long ago the deadline was (C10).
 */
const deadlineExceeded = ({ allocated }: PodContext, at: number): Termination => ({
  reason: 'DeadlineExceeded',
  message: DEADLINE_EXCEEDED,
  graceSeconds: allocated.spec.terminationGracePeriodSeconds ?? 30,
  phase: 'Failed',
  at,
  stays: true,
});

/**
 * Returns the end of a pod whose active deadline has passed. A pod that ends already keeps its grace and its cause, but has
 * failed for its deadline.
 */
export const afterDeadline = (context: PodContext, at: number): Termination =>
  context.termination ? { ...context.termination, exceedsDeadline: true } : deadlineExceeded(context, at);

/** How long the end of a pod for the node's own reasons may take beside its grace: half of that again, and 10 s at least. */
const killLimitOf = ({ at, graceSeconds }: Termination): number =>
  at + Math.max(10, graceSeconds + Math.trunc(graceSeconds / 2)) * 1_000;

/** Until when a pod that the node ends for its own reasons may be there. Undefined for every other pod. */
export const killUntil = ({ termination }: PodContext): number | undefined =>
  termination?.disruption === undefined ? undefined : killLimitOf(termination);

/**
 * The time after which the pod counts as DeadlineExceeded, until its containers and its sandbox have stopped. This also
 * applies while it ends for another reason (the calls of `generateAPIPodStatus` in `SyncTerminatingPod` of
 * `pkg/kubelet/kubelet.go`).
 */
export function activeUntil(context: PodContext): number | undefined {
  const { allocated, restored, startedAt } = context;
  const seconds = allocated.spec.activeDeadlineSeconds;
  if (seconds === undefined || restored !== undefined || hasStopped(context)) return undefined;
  return isPhaseFixed(context.termination) ? undefined : startedAt + seconds * 1_000;
}

const hasStopped = ({ sandbox, stopped }: PodContext): boolean => stopped !== undefined && sandbox?.state !== 'ready';

/** Whether an exceeded deadline changes nothing about the status of the pod, or nobody reads its status. */
function isPhaseFixed(termination: Termination | undefined): boolean {
  if (termination === undefined) return false;
  const { exceedsDeadline, isUnheard, reason } = termination;
  return exceedsDeadline === true || isUnheard === true || reason === 'DeadlineExceeded' || reason === 'EndedElsewhere';
}
