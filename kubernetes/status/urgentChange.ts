/** Distinguishes status changes to which other components react immediately from changes that can be batched. */
import type { PodStatus } from '../api/schema/status.ts';
import { isTerminalPhase } from './phase.ts';

/**
 * Whether the phase or the readiness has changed. A pod without a reported status is treated as Pending and not ready.
 * For a pod that is being deleted, only a terminal phase is urgent, because other components already treat the pod as
 * not ready.
 */
export function isUrgentChange(previous: PodStatus | undefined, current: PodStatus, isBeingDeleted: boolean): boolean {
  const hasPhaseChanged = phaseOf(previous) !== phaseOf(current);
  if (isBeingDeleted) return isTerminalPhase(current.phase) && hasPhaseChanged;
  return hasPhaseChanged || isReady(previous) !== isReady(current);
}

const phaseOf = (status: PodStatus | undefined) => status?.phase ?? 'Pending';

const isReady = (status: PodStatus | undefined): boolean =>
  status?.conditions?.some((each) => each.type === 'Ready' && each.status === 'True') ?? false;
