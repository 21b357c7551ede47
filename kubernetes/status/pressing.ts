/** Which changes of a status others act on at once, and which can wait for what follows them. */
import type { PodStatus } from '../api/schema/status.ts';
import { isTerminalPhase } from './phase.ts';

/**
 * Its phase, and whether it is ready: a pod of which nothing was told yet is Pending, and is not. Of a pod that is being
 * deleted everybody knows that it is not ready for long: there only its end counts.
 */
export function isPressing(before: PodStatus | undefined, after: PodStatus, isBeingDeleted: boolean): boolean {
  const isOtherPhase = phaseOf(before) !== phaseOf(after);
  if (isBeingDeleted) return isTerminalPhase(after.phase) && isOtherPhase;
  return isOtherPhase || isReady(before) !== isReady(after);
}

const phaseOf = (status: PodStatus | undefined) => status?.phase ?? 'Pending';

const isReady = (status: PodStatus | undefined): boolean =>
  status?.conditions?.some((each) => each.type === 'Ready' && each.status === 'True') ?? false;
