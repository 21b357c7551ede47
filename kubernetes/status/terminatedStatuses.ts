import type { ContainerState, ContainerStatus } from '../api/schema/status.ts';
import { UNKNOWN_EXIT } from './unknownRuns.ts';
import type { PodView } from './view.ts';

/**
 * The three lists of container statuses in a PodStatus. Init containers and sidecars are in spec order. The other lists
 * are sorted by name.
 */
export interface ContainerStatuses {
  readonly init: ContainerStatus[];
  readonly regular: ContainerStatus[];
  readonly ephemeral: ContainerStatus[];
}

const UNKNOWN_TERMINATION: ContainerState = {
  terminated: { ...UNKNOWN_EXIT, startedAt: null, finishedAt: null },
};

/**
 * Returns the statuses of a pod that has terminated. A container without a terminated state gets one with exit code
 * 137, because its real exit code is unknown (C13). A regular container gets it only if the pod was initialized, and an
 * init container only if it or a later one had started. The first init container always gets it, because otherwise
 * nothing would explain the failure of the pod (`TerminatePod` and `initializedContainers` in
 * `pkg/kubelet/status/status_manager.go`).
 */
export function terminatedStatuses(view: PodView, { init, regular, ephemeral }: ContainerStatuses): ContainerStatuses {
  const wasInitialized = view.isInitialized || init.length === 0 || regular.some(hasStarted);
  const lastStartedIndex = init.findLastIndex(hasStarted);
  return {
    init: init.map((status, index) =>
      withTerminatedState(status, wasInitialized || index <= Math.max(0, lastStartedIndex)),
    ),
    regular: regular.map((status) => withTerminatedState(status, wasInitialized)),
    ephemeral: ephemeral.map((status) => withTerminatedState(status, hasStarted(status))),
  };
}

function hasStarted({ state, lastState, restartCount }: ContainerStatus): boolean {
  return !state?.waiting || lastState?.terminated !== undefined || restartCount > 0;
}

/**
 * Returns the status with a terminated state. If the status has none, the exit is reported as unknown if `hadStarted`
 * is true. Otherwise the status remains unchanged. The last state always remains unchanged.
 */
function withTerminatedState(status: ContainerStatus, hadStarted: boolean): ContainerStatus {
  if (status.state?.terminated) return status;
  const stoppedStatus = { ...status, ready: false, ...(status.started === undefined ? {} : { started: false }) };
  return hadStarted ? { ...stoppedStatus, state: UNKNOWN_TERMINATION } : status;
}
