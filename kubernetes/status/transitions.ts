/** Checks status transitions, so that the node does not report a status that an API server would reject (C5). */
import { containersOf } from '../api/pods/containers.ts';
import type { Pod } from '../api/schema/pod.ts';
import type { PodStatus } from '../api/schema/status.ts';
import { mayLeaveTerminated } from '../lifecycle/restart.ts';
import { allStatuses } from './allStatuses.ts';
import type { PodView } from './view.ts';

/**
 * Whether the new status would change the state of a container that has terminated permanently. This happens while init
 * containers run again in a new sandbox. The kubelet does not report the pod's status during that time
 * (`checkContainerStateTransition` in `pkg/kubelet/status/status_manager.go`).
 */
export function isTransitionIllegal(pod: Pod, previous: PodStatus, current: PodStatus): boolean {
  const exitCodes = new Map(allStatuses(previous).map(({ name, state }) => [name, state?.terminated?.exitCode]));
  if (![...exitCodes.values()].some((exitCode) => exitCode !== undefined)) return false;
  const notTerminatedNames = new Set(
    allStatuses(current).flatMap(({ name, state }) => (state?.terminated ? [] : [name])),
  );
  return containersOf(pod.spec).some((placed) => {
    const exitCode = exitCodes.get(placed.container.name);
    return (
      exitCode !== undefined &&
      notTerminatedNames.has(placed.container.name) &&
      !mayLeaveTerminated({ pod, ...placed }, exitCode)
    );
  });
}

/**
 * Whether init containers are running again. This function replaces `isTransitionIllegal` for a pod without a reported
 * status. The last run of each container serves as its previous state.
 */
export function isRepeatingInit({ pod, containers }: PodView): boolean {
  const viewsByName = new Map(containers.map((each) => [each.name, each]));
  return containersOf(pod.spec).some((placed) => {
    const { now, lastRun } = viewsByName.get(placed.container.name) ?? {};
    if (placed.role !== 'init' || lastRun === undefined || now?.kind === 'terminated') return false;
    return !mayLeaveTerminated({ pod, ...placed }, lastRun.exitCode);
  });
}
