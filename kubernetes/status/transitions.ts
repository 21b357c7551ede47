/** Which statuses may follow which: what an API server would refuse is not reported (C5). */
import { containersOf } from '../api/containers.ts';
import type { Pod } from '../api/schema/pod.ts';
import type { ContainerStatus, PodStatus } from '../api/schema/status.ts';
import { mayLeaveTerminated } from '../lifecycle/restart.ts';
import type { PodView } from './view.ts';

const statusesOf = (status: PodStatus): ContainerStatus[] => [
  ...(status.initContainerStatuses ?? []),
  ...(status.containerStatuses ?? []),
  ...(status.ephemeralContainerStatuses ?? []),
];

/**
 * Whether a container that has ended for good would be reported as not terminated any more. Init containers run again in a
 * new sandbox; while they do, a kubelet reports nothing of the pod (`checkContainerStateTransition` in
 * `pkg/kubelet/status/status_manager.go`).
 */
export function isTransitionIllegal(pod: Pod, before: PodStatus, now: PodStatus): boolean {
  const ends = new Map(statusesOf(before).map(({ name, state }) => [name, state?.terminated?.exitCode]));
  if (![...ends.values()].some((exitCode) => exitCode !== undefined)) return false;
  const left = new Set(statusesOf(now).flatMap(({ name, state }) => (state?.terminated ? [] : [name])));
  return containersOf(pod.spec).some((part) => {
    const exitCode = ends.get(part.container.name);
    return exitCode !== undefined && left.has(part.container.name) && !mayLeaveTerminated({ pod, ...part }, exitCode);
  });
}

/** The same where it is not known what was reported before: what init containers had come to is told by their last run. */
export function isInitRepeated({ pod, containers }: PodView): boolean {
  const seen = new Map(containers.map((each) => [each.name, each]));
  return containersOf(pod.spec).some((part) => {
    const { now, last } = seen.get(part.container.name) ?? {};
    if (part.role !== 'init' || last === undefined || now?.kind === 'terminated') return false;
    return !mayLeaveTerminated({ pod, ...part }, last.exitCode);
  });
}
