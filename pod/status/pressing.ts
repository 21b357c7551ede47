/** Which changes of a status others act on at once, and which can wait for what follows them. */
import type { PodStatus } from '../api/schema/status.ts';
import { isTerminalPhase } from './phase.ts';

/**
 * A pod's first status, its phase, and whether it is ready. Of a pod that is being deleted everybody knows that it is
 * not ready for long: there only its end counts.
 */
export function isPressing(before: PodStatus | undefined, after: PodStatus, isBeingDeleted: boolean): boolean {
  if (isBeingDeleted) return isTerminalPhase(after.phase) && before?.phase !== after.phase;
  return before === undefined || before.phase !== after.phase || readiness(before) !== readiness(after);
}

const readiness = ({ conditions = [] }: PodStatus): string | undefined =>
  conditions.find(({ type }) => type === 'Ready')?.status;
