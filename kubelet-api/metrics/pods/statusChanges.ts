/** What of a pod's statuses is counted. */
import type { ContainerStateTerminated, ContainerStatus, PodStatus } from '../../../kubernetes/api/schema/status.ts';

/** As the kubelet's metrics call the lists of containers of a pod. */
export type ContainerType = 'container' | 'init_container' | 'ephemeral_container';

/** A run of a container that has ended. */
export interface EndedRun {
  readonly type: ContainerType;
  readonly run: ContainerStateTerminated;
}

type Lists = Pick<PodStatus, 'initContainerStatuses' | 'containerStatuses' | 'ephemeralContainerStatuses'>;

const listsOf = (status: Lists): readonly (readonly [ContainerType, readonly ContainerStatus[]])[] => [
  ['init_container', status.initContainerStatuses ?? []],
  ['container', status.containerStatuses ?? []],
  ['ephemeral_container', status.ephemeralContainerStatuses ?? []],
];

const endsIn = ({ state, lastState }: ContainerStatus): ContainerStateTerminated[] =>
  [lastState?.terminated, state?.terminated].filter((each) => each !== undefined);

/**
 * The runs that are shown to have ended now and were not before. A kubelet counts those that its status shows as the present
 * state (`pkg/kubelet/status/status_manager.go`); here one may already be followed by its back-off when it is told of.
 * What ended before `since` (in milliseconds since the epoch) another agent has counted.
 */
export function newEnds(before: Lists | undefined, now: Lists, since: number): EndedRun[] {
  if (before === now) return [];
  const old = new Map(listsOf(before ?? {}).map(([type, list]) => [type, list] as const));
  return listsOf(now).flatMap(([type, list]) =>
    list.flatMap((container) => {
      const ends = endsIn(container);
      if (ends.length === 0) return [];
      const known = old.get(type)?.find(({ name }) => name === container.name);
      const ids = new Set(known && endsIn(known).map(({ containerID }) => containerID));
      const isNew = (run: ContainerStateTerminated) => !ids.has(run.containerID) && endedSince(run, since);
      return ends.filter(isNew).map((run) => ({ type, run }));
    }),
  );
}

/** A status tells whole seconds. */
const isSince = (time: string | null | undefined, since: number): boolean =>
  Date.parse(time ?? '') >= since - (since % 1_000);

const endedSince = ({ finishedAt }: ContainerStateTerminated, since: number): boolean => isSince(finishedAt, since);

/** Whether one of its containers has run since before that moment, in milliseconds since the epoch. */
export const ranBefore = ({ containerStatuses = [] }: Lists, since: number): boolean =>
  containerStatuses.some(({ state }) => state?.running && !isSince(state.running.startedAt, since));

/** Whether each of its regular containers runs (`hasPodStartedSLO` in `pkg/kubelet/util/pod_startup_latency_tracker.go`). */
export const hasStarted = ({ containerStatuses = [] }: Lists): boolean =>
  containerStatuses.length > 0 && containerStatuses.every(({ state }) => state?.running?.startedAt);

/** What a container waits for that its pod is still at work on. */
const UNDER_WAY: readonly (string | undefined)[] = ['ContainerCreating', 'PodInitializing', undefined];

/**
 * Whether the pod has done with its containers what the first sync of a kubelet would do: the first of its init containers,
 * or all others where it has none, were started, or could not be.
 */
export function isFirstRoundOver({ phase, initContainerStatuses = [], containerStatuses = [] }: PodStatus): boolean {
  if (phase === 'Failed' || phase === 'Succeeded') return true;
  const round = initContainerStatuses.length > 0 ? initContainerStatuses.slice(0, 1) : containerStatuses;
  const isDone = ({ state }: ContainerStatus) => !state?.waiting || !UNDER_WAY.includes(state.waiting.reason);
  return round.length > 0 && round.every((each) => each.state !== undefined && isDone(each));
}

/** How long its init containers ran, in milliseconds. */
export const initMs = ({ initContainerStatuses = [] }: Lists): number =>
  initContainerStatuses.reduce((sum, { state }) => {
    const { startedAt, finishedAt } = state?.terminated ?? {};
    const from = Date.parse(startedAt ?? '');
    const to = Date.parse(finishedAt ?? '');
    // A container that could not be started has the zero time of the runtime.
    return from > 0 && to > from ? sum + to - from : sum;
  }, 0);
