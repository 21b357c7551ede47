/** Derives starts and terminations of containers from pod statuses. */
import type { ContainerStateTerminated, ContainerStatus, PodStatus } from '../../../kubernetes/api/schema/status.ts';

/** The kubelet's label value for each list of containers of a pod. */
export type ContainerType = 'container' | 'init_container' | 'ephemeral_container';

export interface TerminatedRun {
  readonly type: ContainerType;
  readonly run: ContainerStateTerminated;
}

type ContainerStatusLists = Pick<
  PodStatus,
  'initContainerStatuses' | 'containerStatuses' | 'ephemeralContainerStatuses'
>;

const entriesByType = (
  status: ContainerStatusLists,
): readonly (readonly [ContainerType, readonly ContainerStatus[]])[] => [
  ['init_container', status.initContainerStatuses ?? []],
  ['container', status.containerStatuses ?? []],
  ['ephemeral_container', status.ephemeralContainerStatuses ?? []],
];

const listTerminations = ({ state, lastState }: ContainerStatus): ContainerStateTerminated[] =>
  [lastState?.terminated, state?.terminated].filter((each) => each !== undefined);

/**
 * Returns the terminations in the status `now` that were not in `previousStatus`. The kubelet only counts terminations
 * in `state` (`pkg/kubelet/status/status_manager.go`). Here `lastState` is inspected as well, because it already
 * contains the termination while a container is in back-off. Terminations before `since` (milliseconds since the epoch)
 * were counted by a previous agent.
 */
export function newTerminations(
  previousStatus: ContainerStatusLists | undefined,
  now: ContainerStatusLists,
  since: number,
): TerminatedRun[] {
  if (previousStatus === now) return [];
  const previousLists = new Map(entriesByType(previousStatus ?? {}).map(([type, list]) => [type, list] as const));
  return entriesByType(now).flatMap(([type, list]) =>
    list.flatMap((container) => {
      const terminations = listTerminations(container);
      if (terminations.length === 0) return [];
      const previousContainer = previousLists.get(type)?.find(({ name }) => name === container.name);
      const previousTerminations = previousContainer === undefined ? [] : listTerminations(previousContainer);
      // Compare the start times as well, because a restarted runtime may have changed the container's ID.
      const isSameRun = (run: ContainerStateTerminated, other: ContainerStateTerminated) =>
        run.containerID === other.containerID ||
        (container.restartCount === previousContainer?.restartCount &&
          run.startedAt === other.startedAt &&
          run.finishedAt === other.finishedAt);
      const isNewTermination = (run: ContainerStateTerminated) =>
        previousTerminations.every((other) => !isSameRun(run, other)) && hasEndedSince(run, since);
      return terminations.filter(isNewTermination).map((run) => ({ type, run }));
    }),
  );
}

/** Whether `time` is at or after `since`. `since` is rounded down, because statuses have a resolution of one second. */
const isAtOrAfter = (time: string | null | undefined, since: number): boolean =>
  Date.parse(time ?? '') >= since - (since % 1_000);

const hasEndedSince = ({ finishedAt }: ContainerStateTerminated, since: number): boolean =>
  isAtOrAfter(finishedAt, since);

/** Whether a running container was started before `since`, in milliseconds since the epoch. */
export const hasRunBefore = ({ containerStatuses = [] }: ContainerStatusLists, since: number): boolean =>
  containerStatuses.some(({ state }) => state?.running && !isAtOrAfter(state.running.startedAt, since));

/**
 * Whether all regular containers are running (`hasPodStartedSLO` in `pkg/kubelet/util/pod_startup_latency_tracker.go`).
 */
export const hasStarted = ({ containerStatuses = [] }: ContainerStatusLists): boolean =>
  containerStatuses.length > 0 && containerStatuses.every(({ state }) => state?.running?.startedAt);

/** Waiting reasons of a container that is being started. */
const STARTING_REASONS: readonly (string | undefined)[] = ['ContainerCreating', 'PodInitializing', undefined];

/**
 * Whether the work of the kubelet's first sync is complete, i.e. the first init container has been started or has
 * failed to start. Without init containers, this applies to all regular containers.
 */
export function hasFinishedFirstRound({
  phase,
  initContainerStatuses = [],
  containerStatuses = [],
}: PodStatus): boolean {
  if (phase === 'Failed' || phase === 'Succeeded') return true;
  const firstContainers = initContainerStatuses.length > 0 ? initContainerStatuses.slice(0, 1) : containerStatuses;
  const hasAttemptedStart = ({ state }: ContainerStatus) =>
    !state?.waiting || !STARTING_REASONS.includes(state.waiting.reason);
  return (
    firstContainers.length > 0 && firstContainers.every((each) => each.state !== undefined && hasAttemptedStart(each))
  );
}

/** Returns the total run time of the init containers, in milliseconds. */
export const initMs = ({ initContainerStatuses = [] }: ContainerStatusLists): number =>
  initContainerStatuses.reduce((sum, { state }) => {
    const { startedAt, finishedAt } = state?.terminated ?? {};
    const from = Date.parse(startedAt ?? '');
    const to = Date.parse(finishedAt ?? '');
    // Skip a container that could not be started, because its start time is the runtime's zero time.
    return from > 0 && to > from ? sum + to - from : sum;
  }, 0);
