/**
 * Distinguishes status changes to which other components react immediately from changes that can be batched with later
 * ones.
 */
import type { PodStatus } from '../api/schema/status.ts';
import { isTerminalPhase } from './phase.ts';

/**
 * Whether the phase or the readiness has changed. A pod without a reported status counts as Pending and not ready. For
 * a pod that is being deleted only a terminal phase is urgent, because other components already treat it as not ready.
 */
export function isUrgentChange(before: PodStatus | undefined, after: PodStatus, isBeingDeleted: boolean): boolean {
  const hasPhaseChanged = phaseOf(before) !== phaseOf(after);
  if (isBeingDeleted) return isTerminalPhase(after.phase) && hasPhaseChanged;
  return hasPhaseChanged || isReady(before) !== isReady(after);
}

const phaseOf = (status: PodStatus | undefined) => status?.phase ?? 'Pending';

const isReady = (status: PodStatus | undefined): boolean =>
  status?.conditions?.some((each) => each.type === 'Ready' && each.status === 'True') ?? false;
