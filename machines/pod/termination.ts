/** By when, and why, a pod ends: its grace, its active deadline, and which of two commands counts. */
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
  if (present.reason === 'Completed') return next;
  const { stays = false, ...cause } = present;
  const isSooner = next.graceSeconds < present.graceSeconds && deadlineOf(next) < deadlineOf(present);
  const nearer = isSooner ? { at: next.at, graceSeconds: next.graceSeconds } : {};
  return { ...cause, ...nearer, ...(stays && next.stays ? { stays } : {}) };
}

/** What a pod's author reads of that end, in its status and as an event. */
export const DEADLINE_EXCEEDED = 'Pod was active on the node longer than the specified deadline';

/**
 * The end of a pod that was active for longer than it may be, within its own grace: all of it from `at`, when that is
 * noticed, however long ago the deadline was (C10).
 */
export const deadlineExceeded = ({ allocated }: PodContext, at: number): Termination => ({
  reason: 'DeadlineExceeded',
  message: DEADLINE_EXCEEDED,
  graceSeconds: allocated.spec.terminationGracePeriodSeconds ?? 30,
  phase: 'Failed',
  at,
  stays: true,
});

/** How long the end of a pod for the node's own reasons may take beside its grace: half of that again, and 10 s at least. */
const killLimitOf = ({ at, graceSeconds }: Termination): number =>
  at + Math.max(10, graceSeconds + Math.trunc(graceSeconds / 2)) * 1_000;

/** The moment after which the pod may not be active any more; of one that the node ends for its own reasons, not be there. */
export function activeUntil({ allocated, startedAt, termination }: PodContext): number | undefined {
  if (termination !== undefined) return termination.disruption === undefined ? undefined : killLimitOf(termination);
  const seconds = allocated.spec.activeDeadlineSeconds;
  return seconds === undefined ? undefined : startedAt + seconds * 1_000;
}
