/** Builds the terminated run of a container, in terms of ContainerStateTerminated. */
import type { Failure } from '../../base/failure.ts';
import type { ObservedContainer } from '../../kubernetes/lifecycle/observed.ts';
import type { RunReason } from '../../kubernetes/lifecycle/restart.ts';
import { UNKNOWN_EXIT } from '../../kubernetes/status/unknownRuns.ts';
import type { ContainerRole, TerminatedRun } from '../../kubernetes/status/view.ts';

/**
 * Returns the terminated run of an observed container. An unknown exit has code 137 and reason ContainerStatusUnknown
 * (C13).
 */
export function terminatedRun(container: ObservedContainer): TerminatedRun {
  if (container.state !== 'exited') return unknownExitRun(container.id, container.startedAt, UNKNOWN_EXIT.message);
  const exitCode = container.exitCode ?? UNKNOWN_EXIT.exitCode;
  return {
    containerId: container.id,
    exitCode,
    reason: container.reason || (exitCode === 0 ? 'Completed' : 'Error'),
    ...(container.message ? { message: container.message } : {}),
    ...(container.startedAt === undefined ? {} : { startedAt: container.startedAt }),
    ...(container.finishedAt ? { finishedAt: container.finishedAt } : {}),
  };
}

// The two spaces after the period match the message of Kubernetes.
const CONTAINER_LOST_MESSAGE =
  'The container could not be located when the pod was deleted.  The container used to be Running';

/** Returns the run of a container that was running and has disappeared. */
export function unknownExitRun(
  containerId: string,
  startedAt?: number,
  message = CONTAINER_LOST_MESSAGE,
): TerminatedRun {
  return { ...UNKNOWN_EXIT, containerId, message, ...(startedAt ? { startedAt } : {}) };
}

/**
 * Returns the last run of a container that is known only from log files, or undefined for an init container, because
 * log files do not reveal whether it succeeded.
 */
export const lostRun = ({
  role,
  restarts = 0,
}: {
  readonly role: ContainerRole;
  readonly restarts?: number | undefined;
}): TerminatedRun | undefined => (restarts > 0 && role !== 'init' ? unknownExitRun('') : undefined);

/**
 * Returns the run for a start that the runtime refused. It is treated as a run that terminated immediately, and
 * therefore leads to a back-off like a crash.
 */
export const failedStartRun = (id: string | undefined, failure: Failure): TerminatedRun => ({
  containerId: id ?? '',
  exitCode: 128,
  reason: 'StartError' satisfies RunReason,
  message: failure.message,
  startedAt: failure.at,
  finishedAt: failure.at,
});
