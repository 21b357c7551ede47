import type { ContainerState, ContainerStatus } from '../api/schema/status.ts';
import type { PodView } from './view.ts';

/** The three lists of a PodStatus: init containers and sidecars in the order of the spec, the others by name. */
export interface ContainerStatuses {
  readonly init: ContainerStatus[];
  readonly regular: ContainerStatus[];
  readonly ephemeral: ContainerStatus[];
}

const UNKNOWN_END: ContainerState = {
  terminated: {
    exitCode: 137,
    reason: 'ContainerStatusUnknown',
    message: 'The container could not be located when the pod was terminated',
    startedAt: null,
    finishedAt: null,
  },
};

/**
 * Returns the statuses of a pod that has ended: every container has an end, and an unknown end is exit code 137 (C13). A
 * regular container gets one only if the pod was initialized. An init container gets one if it or a later one had
 * started, and the first one always does, because otherwise nothing would say why the pod failed (`TerminatePod` and
 * `initializedContainers` in `pkg/kubelet/status/status_manager.go`).
 */
export function containersAtEnd(view: PodView, { init, regular, ephemeral }: ContainerStatuses): ContainerStatuses {
  const initialized = view.initialized || init.length === 0 || regular.some(hasStarted);
  const lastStarted = init.findLastIndex(hasStarted);
  return {
    init: init.map((status, index) => withEnd(status, initialized || index <= Math.max(0, lastStarted))),
    regular: regular.map((status) => withEnd(status, initialized)),
    ephemeral: ephemeral.map((status) => withEnd(status, hasStarted(status))),
  };
}

function hasStarted({ state, lastState, restartCount }: ContainerStatus): boolean {
  return !state?.waiting || lastState?.terminated !== undefined || restartCount > 0;
}

/** A container that waits for a run that never comes has an unknown end, and the end of its last run as its last state. */
function withEnd(status: ContainerStatus, hadStarted: boolean): ContainerStatus {
  if (status.state?.terminated) return status;
  const stopped = { ...status, ready: false, ...(status.started === undefined ? {} : { started: false }) };
  return hadStarted ? { ...stopped, state: UNKNOWN_END } : status;
}
