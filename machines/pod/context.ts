/** Defines the context of a pod's actor and pure functions on it. The chart is in chart.ts. */

import type { Failure } from '../../base/failure.ts';
import { lookUp } from '../../base/values/lookUp.ts';
import { memoize } from '../../base/values/memoize.ts';
import { VersionedIndex } from '../../base/values/versionedIndex.ts';
import type { Refusal } from '../../kubernetes/admission/refusal.ts';
import { containersOf } from '../../kubernetes/api/pods/containers.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import type { PodCondition, PodStatus } from '../../kubernetes/api/schema/status.ts';
import type { ClaimState } from '../../kubernetes/claims/claimState.ts';
import type { DeviceStatus } from '../../kubernetes/devices/devices.ts';
import type { BackOff } from '../../kubernetes/lifecycle/backoff.ts';
import type { ObservedContainer, ObservedPod, ObservedSandbox } from '../../kubernetes/lifecycle/observed.ts';
import type { MountedVolume, MountedVolumes } from '../../kubernetes/mountedVolume.ts';
import type { Allocation } from '../../kubernetes/resources/allocation.ts';
import type { ContainerSize } from '../../kubernetes/resources/containerSize.ts';
import { type PodResources, resizeErrorOf, withResources } from '../../kubernetes/resources/resize.ts';
import type { ContainerEnds, Termination } from '../../kubernetes/status/view.ts';
import type { ProbeResults } from '../container/context.ts';
import type {
  ContainerEvent,
  ContainerLifecycle,
  NetworkNotReady,
  VolumeEvent,
  VolumeLifecycle,
} from '../shared/events/events.ts';
import type { PortTypes } from '../shared/ports.ts';
import type { VolumeInput } from '../volume/setup.ts';

export interface PodInput {
  readonly pod: Pod;
  /** The pod's objects in the runtime as last observed. Initially, those that existed when the actor started. */
  readonly observed: ObservedPod;
  /** Time at which the node spawned the pod's actor, in milliseconds since the epoch. */
  readonly spawnedAt: number;
  /** Position of the pod in the order of arrival. Earlier pods get slots first. */
  readonly arrivalOrder: number;
  readonly crashLoop: BackOff;
  /** Whether pods may use the node's swap. */
  readonly limitedSwap?: boolean | undefined;
  /** The claims that are prepared for the pod, possibly by an earlier run of the agent. */
  readonly claims?: readonly ClaimState[] | undefined;
  /** Set while the runtime has no network for pods. */
  readonly networkNotReady?: NetworkNotReady;
  /** Whether logs of the pod from before the start of this agent exist or may exist. */
  readonly hasLogs?: boolean;
  /** The allocation from before a restart of the agent or of the pod's actor. */
  readonly allocation?: Allocation;
  /** Probe results of the pod's containers from before a restart of the agent. */
  readonly probed?: readonly ProbeResults[];
  /**
   * Terminated container statuses persisted by an earlier run of the agent. The runtime may have lost these containers
   * since.
   */
  readonly containerEnds?: ContainerEnds;
  /**
   * Set for a pod that must terminate from the start, because no source contains it or because it had already
   * terminated.
   */
  readonly termination?: Termination;
  /**
   * The terminal status that the pod had reached before a restart of the agent. None of its containers may run again
   * (C2).
   */
  readonly restored?: PodStatus;
}

export interface PodContext extends Omit<PodInput, 'pod' | 'networkNotReady' | 'termination'> {
  /** The latest version of the pod from its source. */
  readonly desired: Pod;
  /**
   * The version whose admission was requested last. It equals `desired` except for resources that cannot be changed.
   */
  readonly requestedPod: Pod;
  /**
   * The version that the node has admitted and that the actors implement. It differs from `desired` while an update is
   * not admitted.
   */
  readonly allocated: Pod;
  /** The pod's conditions as reported by its source, including those set by other controllers. */
  readonly conditions?: readonly PodCondition[] | undefined;
  /**
   * Time at which the pod became active on the node, under this agent or an earlier one, in milliseconds since the
   * epoch.
   */
  readonly startedAt: number;
  /** The active deadline whose timer is running, in milliseconds since the epoch. */
  readonly activeDeadline?: number | undefined;
  /** The termination deadline whose timer is running, in milliseconds since the epoch. */
  readonly killDeadline?: number | undefined;
  readonly networkNotReady?: NetworkNotReady | undefined;
  /** The devices of the pod's containers. Undefined if it has none. */
  readonly devices?: readonly DeviceStatus[] | undefined;
  /**
   * Restart counts of containers whose runs the runtime has lost, including the next run. They are dropped once the
   * containers have actors. A terminating pod retains them, because its last status is computed without container
   * actors.
   */
  readonly restarts?: Readonly<Record<string, number>> | undefined;
  readonly volumes: Readonly<Record<string, { lifecycle: VolumeLifecycle; mountedVolume?: MountedVolume }>>;
  readonly containers: Readonly<Record<string, ContainerLifecycle>>;
  /** Commands to containers and volumes that have not been sent yet, in order. Undefined if there are none. */
  readonly queued?: readonly Command[] | undefined;
  /** The runtime's IDs of the containers, as reported by the containers' actors. */
  readonly containerIds: Readonly<Record<string, string>>;
  /** The actual resources of the containers in the runtime, as reported by the containers' actors. */
  readonly sizes: Readonly<Record<string, ContainerSize>>;
  /** The version of the pod whose limits have been applied to its cgroup. Undefined if unknown. */
  readonly appliedPod?: Pod | undefined;
  /**
   * The resize that was last attempted. Until an attempt succeeds, it is unknown which containers it has changed, and
   * whether it has changed the pod's cgroup. Undefined if the last attempt succeeded.
   */
  readonly attemptedResize?: AttemptedResize | undefined;
  readonly sandbox?: ObservedSandbox | undefined;
  /** Attempt number of the current sandbox or, if none exists, of the next one. */
  readonly attempt: number;
  /** Lost sandboxes that have yet to be stopped. */
  readonly stale: readonly string[];
  /** The sandboxes that were stopped during the termination. Undefined before the termination. */
  readonly stopped?: readonly string[];
  /**
   * Number of times that sandboxes could not be removed because the runtime had lost track of a container. Undefined if
   * that has never happened.
   */
  readonly lostTaskCount?: number;
  /** The init and ephemeral containers that have had their turn in the current sandbox. */
  readonly turnsTaken: readonly string[];
  /** The containers to be launched in the current round, in order (C9). */
  readonly launchRound: readonly string[];
  /**
   * Whether all containers are being stopped in order to restart in the current sandbox (C5). This is not a state,
   * because it outlives `active.restartingAll` and also applies while `resetting` verifies the sandbox.
   */
  readonly isRestartingAll?: boolean | undefined;
  /**
   * Whether all init containers have completed for the current sandbox. This is not a state, because it outlives
   * `active.running` and is part of the status of a pod in `resetting` or `terminating`.
   */
  readonly isInitialized: boolean;
  /** The sidecars whose turn to stop has come (C11). */
  readonly releasedSidecars: readonly string[];
  /** Time at which the last container terminated, in milliseconds since the epoch. */
  readonly endedAt: number;
  readonly termination?: Termination | undefined;
  /** Whether a source contains the pod again. If so, the pod restarts once this actor is done. */
  readonly isRewanted?: boolean;
  readonly refusal?: Refusal | undefined;
  /** Reason why the node does not admit the latest update from the source. */
  readonly updateRefusal?: Refusal | undefined;
  /**
   * The refused resize that the last ResizeDeferred or ResizeInfeasible event was about. The event may have been
   * recorded before a restart of the agent.
   */
  readonly pendingResize?: PendingResize | undefined;
  /**
   * The admitted resize that is in progress, possibly since before a restart of the agent. Undefined if there is none.
   */
  readonly resize?: AdmittedResize | undefined;
  readonly failure?: Failure | undefined;
  readonly retryAt: number;
}

/** A command to some of a pod's containers or volumes. */
export type Command = ContainerCommand | VolumeCommand;

interface ContainerCommand {
  readonly to?: undefined;
  readonly names: readonly string[];
  readonly event: ContainerEvent | SpawnContainers | StopActors;
}

interface VolumeCommand {
  readonly to: 'volumes';
  readonly names: readonly string[];
  readonly event: VolumeEvent | SpawnVolumes | StopActors;
}

/** Spawns container actors. The command captures the pod and its restart counts at the time at which it is queued. */
export interface SpawnContainers extends Pick<PodContext, 'restarts'> {
  readonly type: 'spawn';
  readonly pod: Pod;
}

/** Spawns volume actors. The command captures the pod and its data at the time at which it is queued. */
interface SpawnVolumes extends Omit<VolumeInput, 'name'> {
  readonly type: 'spawn';
}

/** Stops actors that have no work left. */
interface StopActors {
  readonly type: 'stop';
}

export interface PendingResize {
  readonly reason: string;
  /** Generation of the pod in which the resources were requested. 0 if the pod has none. */
  readonly generation: number;
  /** The requested resources. Undefined if they were refused before a restart of the agent. */
  readonly resources?: PodResources | undefined;
}

interface AttemptedResize extends Pick<PortTypes['resizePod']['input'], 'appliedPod' | 'containers'> {
  /**
   * The sizes that resize attempts may have given to containers, by container name. Contains only containers whose
   * attempted size differed from their last known size.
   */
  readonly attemptedSizes: Readonly<Record<string, ContainerSize>>;
  /**
   * The pod of the last attempt. An attempt to restore the applied pod-level resources does not replace it, because the
   * cgroup may still have those of an earlier attempt.
   */
  readonly attemptedPod: Pod;
}

interface AdmittedResize {
  /** Generation of the pod when the resize was admitted. */
  readonly generation?: number | undefined;
  /** Error of the last attempt to resize the pod's cgroup. Undefined if that attempt succeeded. */
  readonly error?: string | undefined;
}

/**
 * Returns the resize state that was reported to the API server before a restart of the agent, so that the events about
 * it are not repeated (`BackfillPodResizeConditions` in `pkg/kubelet/status/status_manager.go`).
 */
function reportedResize({ status }: Pod): Pick<PodContext, 'pendingResize' | 'resize'> {
  const pendingCondition = status?.conditions?.find(({ type }) => type === 'PodResizePending');
  const inProgressCondition = status?.conditions?.find(({ type }) => type === 'PodResizeInProgress');
  return {
    ...(pendingCondition && {
      pendingResize: { reason: pendingCondition.reason ?? '', generation: pendingCondition.observedGeneration ?? 0 },
    }),
    ...(inProgressCondition && {
      resize: { generation: inProgressCondition.observedGeneration, error: resizeErrorOf(inProgressCondition) },
    }),
  };
}

export function initialPodContext({ pod, ...input }: PodInput): PodContext {
  const resources = input.allocation?.resources;
  // Use the admitted resources, because a restart of the agent does not admit a resize that was not admitted before.
  const allocated = resources ? withResources(pod, resources) : pod;
  return {
    desired: pod,
    conditions: pod.status?.conditions,
    requestedPod: allocated,
    allocated,
    ...reportedResize(pod),
    sizes: {},
    ...(input.allocation?.sizes ? {} : { appliedPod: allocated }),
    ...input,
    restarts: reportedRestarts(allocated, input),
    startedAt: reportedStartTime(pod) ?? input.observed.sandboxes.at(-1)?.createdAt ?? input.spawnedAt,
    volumes: {},
    containers: {},
    containerIds: {},
    attempt: input.observed.sandboxes[0]?.attempt ?? 0,
    stale: [],
    turnsTaken: [],
    launchRound: [],
    isInitialized: false,
    releasedSidecars: [],
    endedAt: 0,
    retryAt: 0,
  };
}

/**
 * Returns the startTime in the status that the pod's source reports, in milliseconds since the epoch, or undefined if
 * there is none. The active deadline is measured from this time, even if the runtime has lost containers since
 * (`pastActiveDeadline` in `pkg/kubelet/active_deadline.go`).
 */
function reportedStartTime({ status }: Pod): number | undefined {
  return status?.startTime === undefined ? undefined : Date.parse(status.startTime);
}

/**
 * Returns the containers whose latest run may be missing from the runtime, either because they have no runs there or
 * because all of their runs are in sandboxes that are not ready.
 */
export function containersWithLostRuns(pod: Pod, observed: ObservedPod): string[] {
  const readySandboxIds = new Set(observed.sandboxes.flatMap(({ id, state }) => (state === 'ready' ? [id] : [])));
  const latestContainers = observed.containers.filter((each) => mayRun(each) || readySandboxIds.has(each.sandboxId));
  const knownNames = new Set(latestContainers.map(({ name }) => name));
  return containersOf(pod.spec).flatMap(({ container: { name } }) => (knownNames.has(name) ? [] : [name]));
}

/**
 * Derives restart counts, including the next run, from the last reported status, for the containers whose runs the
 * runtime may have lost (C13). A reported restart count never decreases, regardless of the remaining logs
 * (`convertToAPIContainerStatuses` in `pkg/kubelet/kubelet_pods.go`).
 */
function reportedRestarts(
  pod: Pod,
  { observed, containerEnds, restored: restoredStatus }: Omit<PodInput, 'pod'>,
): PodContext['restarts'] {
  const status: ContainerEnds | undefined = pod.status ?? containerEnds;
  if (status === undefined || restoredStatus !== undefined) return undefined;
  const lostNames = new Set(containersWithLostRuns(pod, observed));
  const reportedStatuses = [status.initContainerStatuses, status.containerStatuses].flatMap((list) => list ?? []);
  // A container without an ID never ran, even though it has a terminated state if its pod has terminated.
  const statusesWithRuns = reportedStatuses.filter(
    ({ name, containerID }) => containerID !== undefined && lostNames.has(name),
  );
  return statusesWithRuns.length === 0
    ? undefined
    : Object.fromEntries(statusesWithRuns.map((each) => [each.name, each.restartCount + 1]));
}

/** Merges two records of restart counts. For each container, the higher count wins. */
export function mergedRestarts(
  first: PodContext['restarts'] = {},
  second: PodContext['restarts'] = {},
): NonNullable<PodContext['restarts']> {
  const mergedCounts = new Map(Object.entries(first));
  for (const [name, count] of Object.entries(second))
    mergedCounts.set(name, Math.max(mergedCounts.get(name) ?? 0, count));
  return Object.fromEntries(mergedCounts);
}

/**
 * Whether every volume that the pod must wait for is settled. A missing image volume blocks only the containers that
 * mount it (C16), and a failed remount after a restart of the agent blocks no running container.
 */
export const areVolumesSettled = ({ volumes }: PodContext): boolean => {
  const counts = volumeCounts.of(volumes);
  return counts.mounted + counts.delayed === counts.all;
};

export const areVolumesUnmounted = ({ volumes }: PodContext): boolean => {
  const counts = volumeCounts.of(volumes);
  return counts.unmounted === counts.all;
};

type Volumes = PodContext['volumes'];
type VolumeCounts = Record<VolumeLifecycle | 'all', number>;

/**
 * Index of the number of volumes, in total and by lifecycle. Guards need these numbers after every event, and a pod may
 * have a thousand volumes.
 */
const volumeCounts = new VersionedIndex((volumes: Volumes): VolumeCounts => {
  const counts = { all: 0, pending: 0, mounted: 0, delayed: 0, unmounted: 0 };
  for (const { lifecycle } of Object.values(volumes)) countVolume(counts, lifecycle, 1);
  return counts;
});

function countVolume(counts: VolumeCounts, lifecycle: VolumeLifecycle, change: 1 | -1): void {
  counts.all += change;
  counts[lifecycle] += change;
}

/** Returns the volumes with one of them added or replaced. */
export const withVolume = (volumes: Volumes, name: string, volume: Volumes[string]): Volumes =>
  volumeCounts.advance(volumes, { ...volumes, [name]: volume }, (counts) => {
    const previousLifecycle = lookUp(volumes, name)?.lifecycle;
    if (previousLifecycle !== undefined) countVolume(counts, previousLifecycle, -1);
    countVolume(counts, volume.lifecycle, 1);
  });

/** Returns the mounted volumes of a pod. Memoized, because each container of the pod receives them. */
export const mountedVolumes = ({ volumes }: PodContext): MountedVolumes => mountedVolumesIn(volumes);

const mountedVolumesIn = memoize(
  (volumes: Volumes): MountedVolumes =>
    Object.fromEntries(
      Object.entries(volumes).flatMap(([name, { mountedVolume }]) => (mountedVolume ? [[name, mountedVolume]] : [])),
    ),
);

const runsByName = memoize(
  (observed: ObservedPod): ReadonlyMap<string, readonly ObservedContainer[]> =>
    Map.groupBy(observed.containers, ({ name }) => name),
);

/** Returns the runs of a container in the runtime, in the runtime's order. */
export const runsOf = (observed: ObservedPod, name: string): readonly ObservedContainer[] =>
  runsByName(observed).get(name) ?? [];

/** Whether the container may have a process. A container in an unknown state may have one. */
export const mayRun = ({ state }: ObservedContainer): boolean => state === 'running' || state === 'unknown';

/** Returns the restart counts of the init containers, sidecars and regular containers, by name. */
const restartsByName = memoize(
  ({ initContainerStatuses = [], containerStatuses = [] }: PodStatus): ReadonlyMap<string, number> =>
    new Map([...initContainerStatuses, ...containerStatuses].map(({ name, restartCount }) => [name, restartCount])),
);

/**
 * Returns the runs of a container in the runtime. A running container comes first, and the others follow from newest to
 * oldest. If the pod had terminated (C2), runs without a process are included only up to the run in the terminal
 * status. If the runtime has lost that run, none are included, because earlier runs do not explain the status.
 */
export function knownRuns(
  { observed, restored: restoredStatus }: PodContext,
  name: string,
): readonly ObservedContainer[] {
  const observedRuns = runsOf(observed, name);
  const restarts = restoredStatus && restartsByName(restoredStatus).get(name);
  if (restarts === undefined || observedRuns.some(mayRun)) return observedRuns;
  const terminalRuns = observedRuns.filter(({ attempt }) => attempt <= restarts);
  return terminalRuns.some(({ attempt }) => attempt === restarts) ? terminalRuns : [];
}

/** Updates one container in the observed pod. */
export function withContainer(observed: ObservedPod, container: ObservedContainer): ObservedPod {
  const listedContainer = observed.containers.find(({ id }) => id === container.id);
  // Take the sandbox from the runtime's container list, because the container's status does not contain it.
  const mergedContainer = { ...container, sandboxId: container.sandboxId || (listedContainer?.sandboxId ?? '') };
  const otherContainers = observed.containers.filter(({ id }) => id !== container.id);
  return {
    ...observed,
    containers: [mergedContainer, ...otherContainers].sort(
      (a, b) => runningRank(a) - runningRank(b) || b.attempt - a.attempt || b.createdAt - a.createdAt,
    ),
  };
}

const runningRank = ({ state }: ObservedContainer): number => (state === 'running' ? 0 : 1);

/** Returns the containers that the runtime or their actors had reported and that the runtime no longer has. */
export function vanishedContainers(
  { observed, containerIds }: PodContext,
  newlyObserved: ObservedPod,
): { name: string; id: string }[] {
  const reportedContainers = Object.entries(containerIds).map(([name, id]) => ({ name, id }));
  const missingById = new Map(
    [...observed.containers, ...reportedContainers].map(({ name, id }) => [id, { name, id }]),
  );
  for (const { id } of newlyObserved.containers) missingById.delete(id);
  return [...missingById.values()];
}

/** Returns the restart counts of containers that have no actor and whose latest run the runtime no longer has. */
export function restartsWithLostRuns(context: PodContext, newlyObserved: ObservedPod): PodContext['restarts'] {
  const { containers, observed, restarts } = context;
  const ids = new Set(newlyObserved.containers.map(({ id }) => id));
  const lostContainers = observed.containers.filter(({ id, name }) => !Object.hasOwn(containers, name) && !ids.has(id));
  if (lostContainers.length === 0) return restarts;
  const restartCounts = new Map(Object.entries(restarts ?? {}));
  for (const { name, attempt } of lostContainers)
    restartCounts.set(name, Math.max(restartCounts.get(name) ?? 0, attempt + 1));
  return Object.fromEntries(restartCounts);
}
