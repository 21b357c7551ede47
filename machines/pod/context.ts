/** What a pod's actor knows, and the plain questions that its chart asks of it. The chart is in chart.ts. */

import type { Failure } from '../../base/failure.ts';
import { memoize } from '../../base/memoize.ts';
import type { Refusal } from '../../kubernetes/admission/refusal.ts';
import { containersOf } from '../../kubernetes/api/containers.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import type { PodCondition, PodStatus } from '../../kubernetes/api/schema/status.ts';
import type { BackOff } from '../../kubernetes/lifecycle/backoff.ts';
import type { ObservedContainer, ObservedPod, ObservedSandbox } from '../../kubernetes/lifecycle/observed.ts';
import type { MountedVolume, MountedVolumes } from '../../kubernetes/mountedVolume.ts';
import type { Allocation } from '../../kubernetes/resources/allocation.ts';
import type { ContainerSize } from '../../kubernetes/resources/containerSize.ts';
import { resizeErrorOf, withResources } from '../../kubernetes/resources/resize.ts';
import type { ContainerEnds, Termination } from '../../kubernetes/status/view.ts';
import type { Probed } from '../container/context.ts';
import type {
  ContainerEvent,
  ContainerLifecycle,
  NetworkNotReady,
  VolumeEvent,
  VolumeLifecycle,
} from '../shared/events.ts';
import type { VolumeInput } from '../volume/setup.ts';

export interface PodInput {
  readonly pod: Pod;
  /** What the runtime has of it: when the actor is born, then as it is told. */
  readonly observed: ObservedPod;
  /** When the node began with it, in milliseconds since the epoch. */
  readonly bornAt: number;
  /** The pod's number in the order of arrival: who came first goes first. */
  readonly ticket: number;
  readonly crashLoop: BackOff;
  /** Whether the node gives out its swap. */
  readonly limitedSwap?: boolean | undefined;
  /** Why the runtime has no network for pods, if that is so. */
  readonly networkNotReady?: NetworkNotReady;
  /** Whether an earlier agent has, or may have, left logs of it. */
  readonly hasLogs?: boolean;
  /** What was admitted for it before the agent restarted, or its actor was made anew. */
  readonly allocation?: Allocation;
  /** What the probes of its containers had come to before the agent restarted. */
  readonly probed?: readonly Probed[];
  /** The ends of its containers that an earlier agent has persisted: the runtime may have lost them since. */
  readonly containerEnds?: ContainerEnds;
  /** Set for a pod that must end from the start: no source wants it any more, or it had finished before. */
  readonly termination?: Termination;
  /** The terminal status that it had reached before the agent restarted: nothing of it may run again (C2). */
  readonly restored?: PodStatus;
}

export interface PodContext extends Omit<PodInput, 'pod' | 'networkNotReady' | 'termination'> {
  /** What the sources want. */
  readonly desired: Pod;
  /** What the node was asked to admit last: `desired`, but for resources that can not be changed. */
  readonly asked: Pod;
  /** What the node has admitted and the actors work for: differs from `desired` while an update is not admitted. */
  readonly allocated: Pod;
  /** Its conditions as its source has them, with those that others tell. */
  readonly conditions?: readonly PodCondition[] | undefined;
  /** When the pod became active on the node, under this agent or an earlier one, in milliseconds since the epoch. */
  readonly startedAt: number;
  /** The moment that is counted down to, after which it may not be active any more. */
  readonly activeUntil?: number | undefined;
  /** The moment that is counted down to, after which the end of the pod takes too long. */
  readonly killUntil?: number | undefined;
  readonly networkNotReady?: NetworkNotReady | undefined;
  /**
   * Restart counts of containers whose runs the runtime has lost, including the run to come. They are dropped once the
   * containers have actors, except if the pod is to end: its last status is computed without those.
   */
  readonly restarts?: Readonly<Record<string, number>> | undefined;
  readonly volumes: Readonly<Record<string, { lifecycle: VolumeLifecycle; mounted?: MountedVolume }>>;
  readonly containers: Readonly<Record<string, ContainerLifecycle>>;
  /** Commands to containers and volumes that the pod has yet to send, in their order. Undefined if there are none. */
  readonly queued?: readonly Command[] | undefined;
  /** The ids of their containers at the runtime, as the containers' actors tell them. */
  readonly containerIds: Readonly<Record<string, string>>;
  /** The sizes that the containers at the runtime have, as their actors tell them. */
  readonly sizes: Readonly<Record<string, ContainerSize>>;
  /** The version of the pod that its cgroup has the limits of; absent when nobody knows. */
  readonly fitted?: Pod | undefined;
  readonly sandbox?: ObservedSandbox | undefined;
  /** The number of the sandbox that is, or will next be, run. */
  readonly attempt: number;
  /** Sandboxes that are lost and have still to be stopped. */
  readonly stale: readonly string[];
  /** The sandboxes that were stopped on the way back; absent before. */
  readonly stopped?: readonly string[];
  /** How often its sandboxes could not be removed because the runtime had lost track of a container; absent: never. */
  readonly lostTasks?: number;
  /** The init and ephemeral containers that have had their turn in the present sandbox. */
  readonly turnsGiven: readonly string[];
  /** Who is still to be launched in the present round, in this order (C9). */
  readonly round: readonly string[];
  /** All its containers are being stopped to restart in the present sandbox (C5), also while that is in doubt. */
  readonly restartsAll?: boolean | undefined;
  /** All init containers have done their part for the present sandbox. */
  readonly initialized: boolean;
  /** The sidecars that were told that their turn to stop has come (C11). */
  readonly released: readonly string[];
  /** When the last container ended, in milliseconds since the epoch. */
  readonly endedAt: number;
  readonly termination?: Termination | undefined;
  /** A source wants the pod again, which starts over once this actor has ended. */
  readonly isRewanted?: boolean;
  readonly refused?: Refusal | undefined;
  /** Why the node does not admit the update that the sources want. */
  readonly unadmitted?: Refusal | undefined;
  /** The refused resize that the last ResizeDeferred or ResizeInfeasible was about, also under an earlier agent. */
  readonly pendingResize?: PendingResize | undefined;
  /** The resize that was admitted last, also under an earlier agent. Undefined if none was admitted. */
  readonly resize?: AdmittedResize | undefined;
  readonly failure?: Failure | undefined;
  readonly retryAt: number;
}

/** A command to some containers or volumes of a pod, in this order. */
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

/** Spawns the actors, with the pod and its restart counts as they were when the command was given. */
export interface SpawnContainers extends Pick<PodContext, 'restarts'> {
  readonly type: 'spawn';
  readonly pod: Pod;
}

/** Spawns the actors, with the pod and what was known of it when the command was given. */
interface SpawnVolumes extends Omit<VolumeInput, 'name'> {
  readonly type: 'spawn';
}

/** Stops the actors, which have nothing left to do. */
interface StopActors {
  readonly type: 'stop';
}

export interface PendingResize {
  readonly reason: string;
  /** Generation of the pod; 0 for a pod without one. */
  readonly generation: number;
}

interface AdmittedResize {
  /** Generation of the pod when the resize was admitted. */
  readonly generation?: number | undefined;
  /** The last error of the pod's cgroup. Undefined if it was fitted. */
  readonly error?: string | undefined;
}

/**
 * Returns what an earlier agent reported about a resize, as the API server has it, so that no event about it is sent again
 * (`BackfillPodResizeConditions` in `pkg/kubelet/status/status_manager.go`).
 */
function reportedResize({ status }: Pod): Pick<PodContext, 'pendingResize' | 'resize'> {
  const pending = status?.conditions?.find(({ type }) => type === 'PodResizePending');
  const inProgress = status?.conditions?.find(({ type }) => type === 'PodResizeInProgress');
  return {
    ...(pending && {
      pendingResize: { reason: pending.reason ?? '', generation: pending.observedGeneration ?? 0 },
    }),
    ...(inProgress && { resize: { generation: inProgress.observedGeneration, error: resizeErrorOf(inProgress) } }),
  };
}

export function initialPodContext({ pod, ...input }: PodInput): PodContext {
  const resources = input.allocation?.resources;
  // A resize that was not admitted before the restart is not admitted by it.
  const allocated = resources ? withResources(pod, resources) : pod;
  return {
    desired: pod,
    conditions: pod.status?.conditions,
    asked: allocated,
    allocated,
    ...reportedResize(pod),
    sizes: {},
    ...(input.allocation?.sizes ? {} : { fitted: allocated }),
    ...input,
    restarts: reportedRestarts(allocated, input),
    startedAt: reportedStart(pod) ?? input.observed.sandboxes.at(-1)?.createdAt ?? input.bornAt,
    volumes: {},
    containers: {},
    containerIds: {},
    attempt: input.observed.sandboxes[0]?.attempt ?? 0,
    stale: [],
    turnsGiven: [],
    round: [],
    initialized: false,
    released: [],
    endedAt: 0,
    retryAt: 0,
  };
}

/**
 * Returns the startTime that the pod's source has, in milliseconds since the epoch; undefined if it has none. An active
 * deadline counts from this time, whatever the runtime has lost since (`pastActiveDeadline` in
 * `pkg/kubelet/active_deadline.go`).
 */
function reportedStart({ status }: Pod): number | undefined {
  return status?.startTime === undefined ? undefined : Date.parse(status.startTime);
}

/**
 * Returns the names of the containers whose latest runs the runtime may have lost: it shows none of them, or only runs in a
 * sandbox that is not ready.
 */
export function forgottenContainers(pod: Pod, observed: ObservedPod): string[] {
  const ready = new Set(observed.sandboxes.flatMap(({ id, state }) => (state === 'ready' ? [id] : [])));
  const latest = observed.containers.filter((each) => mayRun(each) || ready.has(each.sandboxId));
  const known = new Set(latest.map(({ name }) => name));
  return containersOf(pod.spec).flatMap(({ container: { name } }) => (known.has(name) ? [] : [name]));
}

/**
 * Returns the restart counts that follow from the last reported status for containers whose runs the runtime may have lost,
 * counting the run to come (C13). A reported restart count never decreases, whatever the logs still show
 * (`convertToAPIContainerStatuses` in `pkg/kubelet/kubelet_pods.go`).
 */
function reportedRestarts(
  pod: Pod,
  { observed, containerEnds, restored }: Omit<PodInput, 'pod'>,
): PodContext['restarts'] {
  const status: ContainerEnds | undefined = pod.status ?? containerEnds;
  if (status === undefined || restored !== undefined) return undefined;
  const forgotten = new Set(forgottenContainers(pod, observed));
  const reported = [status.initContainerStatuses, status.containerStatuses].flatMap((list) => list ?? []);
  // A container without an ID never ran, although it has an end if its pod has one.
  const ran = reported.filter(({ name, containerID }) => containerID !== undefined && forgotten.has(name));
  return ran.length === 0 ? undefined : Object.fromEntries(ran.map((each) => [each.name, each.restartCount + 1]));
}

/** Merges two records of restart counts. Of two counts of the same container the higher one holds. */
export function mergedRestarts(
  one: PodContext['restarts'] = {},
  other: PodContext['restarts'] = {},
): NonNullable<PodContext['restarts']> {
  const merged = new Map(Object.entries(one));
  for (const [name, count] of Object.entries(other)) merged.set(name, Math.max(merged.get(name) ?? 0, count));
  return Object.fromEntries(merged);
}

/**
 * As far as the pod waits for them: an image that cannot be had holds up only the containers that mount it (C16), and what
 * cannot be mounted once more after a restart of the agent none that runs.
 */
export const areVolumesSettled = ({ volumes }: PodContext): boolean => {
  const counts = volumeCounts(volumes);
  return counts.mounted + counts.delayed === counts.all;
};

/** Whether all volumes have been unmounted. */
export const areVolumesUnmounted = ({ volumes }: PodContext): boolean => {
  const counts = volumeCounts(volumes);
  return counts.unmounted === counts.all;
};

/** How many volumes there are, and how many are in each lifecycle. A pod with many volumes checks that after every event. */
const volumeCounts = memoize((volumes: PodContext['volumes']) => {
  const counts: Record<VolumeLifecycle | 'all', number> = { all: 0, pending: 0, mounted: 0, delayed: 0, unmounted: 0 };
  for (const { lifecycle } of Object.values(volumes)) {
    counts.all += 1;
    counts[lifecycle] += 1;
  }
  return counts;
});

export const mountedVolumes = ({ volumes }: PodContext): MountedVolumes =>
  Object.fromEntries(Object.entries(volumes).flatMap(([name, { mounted }]) => (mounted ? [[name, mounted]] : [])));

const runsByName = memoize(
  (observed: ObservedPod): ReadonlyMap<string, readonly ObservedContainer[]> =>
    Map.groupBy(observed.containers, ({ name }) => name),
);

/** The runs of a container that the runtime shows, in the order in which it shows them. */
export const runsOf = (observed: ObservedPod, name: string): readonly ObservedContainer[] =>
  runsByName(observed).get(name) ?? [];

/** Whether it may have a process. */
export const mayRun = ({ state }: ObservedContainer): boolean => state === 'running' || state === 'unknown';

/**
 * What the runtime has of a container, what runs first, then the newest. If its pod had ended (C2), what does not run is
 * shown up to the run that its end was told with: not one that was made meanwhile and never ran, and nothing where the
 * runtime has lost that run, since those before say nothing of the end.
 */
export function knownRuns({ observed, restored }: PodContext, name: string): readonly ObservedContainer[] {
  const shown = runsOf(observed, name);
  const told = [...(restored?.initContainerStatuses ?? []), ...(restored?.containerStatuses ?? [])];
  const restarts = told.find((each) => each.name === name)?.restartCount;
  if (restarts === undefined || shown.some(mayRun)) return shown;
  const upToEnd = shown.filter(({ attempt }) => attempt <= restarts);
  return upToEnd.some(({ attempt }) => attempt === restarts) ? upToEnd : [];
}

/** The observed pod with one container's newer facts in it. */
export function withContainer(observed: ObservedPod, container: ObservedContainer): ObservedPod {
  const known = observed.containers.find(({ id }) => id === container.id);
  // A status does not name the sandbox; the list did.
  const merged = { ...container, sandboxId: container.sandboxId || (known?.sandboxId ?? '') };
  const rest = observed.containers.filter(({ id }) => id !== container.id);
  return {
    ...observed,
    containers: [merged, ...rest].sort((a, b) => b.attempt - a.attempt || b.createdAt - a.createdAt),
  };
}

/** Containers that the runtime or their actors had told of, and that the runtime does not show any more. */
export function vanished({ observed, containerIds }: PodContext, shown: ObservedPod): { name: string; id: string }[] {
  const reported = Object.entries(containerIds).map(([name, id]) => ({ name, id }));
  const known = new Map([...observed.containers, ...reported].map(({ name, id }) => [id, { name, id }]));
  for (const { id } of shown.containers) known.delete(id);
  return [...known.values()];
}

/** What is known of the restarts of containers without an actor, of which the runtime does not show the latest any more. */
export function rememberedRestarts(context: PodContext, shown: ObservedPod): PodContext['restarts'] {
  const { containers, observed, restarts } = context;
  const ids = new Set(shown.containers.map(({ id }) => id));
  const lost = observed.containers.filter(({ id, name }) => !Object.hasOwn(containers, name) && !ids.has(id));
  if (lost.length === 0) return restarts;
  const counted = new Map(Object.entries(restarts ?? {}));
  for (const { name, attempt } of lost) counted.set(name, Math.max(counted.get(name) ?? 0, attempt + 1));
  return Object.fromEntries(counted);
}
