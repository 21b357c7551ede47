import type { ContainerStatus, PodStatus } from '../api/schema/status.ts';
import { allStatuses } from './allStatuses.ts';
import type { ContainerView, PodView, TerminatedRun } from './view.ts';

/** Exit of a container whose termination was not observed (C13). */
export const UNKNOWN_EXIT = {
  exitCode: 137,
  reason: 'ContainerStatusUnknown',
  message: 'The container could not be located when the pod was terminated',
} as const;

/**
 * Returns a view in which a container is treated as terminated if it was reported as running but its state is now
 * unknown to the runtime. Otherwise the container would return to waiting, and its pod to Pending. The restart count
 * includes the lost run (`convertToAPIContainerStatuses` in `pkg/kubelet/kubelet_pods.go`).
 */
export function withUnknownRuns(view: PodView, previous: PodStatus | undefined): PodView {
  if (!view.containers.some(hasUnknownRun)) return view;
  const reportedStatuses = allStatuses(previous);
  const withUnknownRun = (container: ContainerView): ContainerView => {
    const status = hasUnknownRun(container) ? reportedStatuses.find(({ name }) => name === container.name) : undefined;
    if (status === undefined) return container;
    if (status.state?.running) {
      const run = unknownRun(view.isRestartingAll ? 'RestartingAllContainers' : UNKNOWN_EXIT.reason);
      return { ...container, now: { kind: 'terminated', run }, restartCount: status.restartCount + 1 };
    }
    const reason = reportedUnknownReason(status, container);
    if (reason === undefined) return container;
    return { ...container, now: { kind: 'terminated', run: unknownRun(reason) }, restartCount: status.restartCount };
  };
  return { ...view, containers: view.containers.map(withUnknownRun) };
}

const hasUnknownRun = ({ now, isStateUnknown }: ContainerView): boolean =>
  isStateUnknown === true && now.kind === 'waiting';

/**
 * Returns the reason of an unknown run that has already been reported for the container. The reported restart count
 * then already includes the run. Does not compare IDs, because a restarted runtime may report its containers under new
 * IDs.
 */
function reportedUnknownReason(reportedStatus: ContainerStatus, { restartCount }: ContainerView) {
  const { containerID: runId, reason, exitCode } = reportedStatus.state?.terminated ?? {};
  const isSameContainer = restartCount < reportedStatus.restartCount;
  return isSameContainer && runId === undefined && exitCode === UNKNOWN_EXIT.exitCode ? reason : undefined;
}

const unknownRun = (reason: string): TerminatedRun => ({ ...UNKNOWN_EXIT, containerId: '', reason });
