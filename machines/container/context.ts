/** Defines the context of a container's actor and pure functions on it. The chart is in chart.ts. */

import { containerHash } from '../../kubernetes/api/pods/containerHash.ts';
import { findContainerByName } from '../../kubernetes/api/pods/containers.ts';
import type { Container } from '../../kubernetes/api/schema/container.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import type { BackOff } from '../../kubernetes/lifecycle/backoff.ts';
import type { CreatedContainer, ObservedContainer, ObservedSandbox } from '../../kubernetes/lifecycle/observed.ts';
import type { MountedVolumes } from '../../kubernetes/mountedVolume.ts';
import type { ContainerSize } from '../../kubernetes/resources/containerSize.ts';
import { hasSameSize, needsRestart, resourceKey } from '../../kubernetes/resources/resize.ts';
import { containerSize } from '../../kubernetes/resources/resources.ts';
import type { ContainerRole, TerminatedRun } from '../../kubernetes/status/view.ts';
import type { ImageProgress } from '../image/imageProgress.ts';
import type { ContainerEvent } from '../shared/events/events.ts';
import type { KnownContainer } from '../shared/ports.ts';
import { lostRun, terminatedRun } from './terminatedRun.ts';

export interface ContainerInput {
  readonly pod: Pod;
  readonly name: string;
  readonly role: ContainerRole;
  readonly arrivalOrder: number;
  readonly crashLoop: BackOff;
  /** Mounted volumes by name. The value is the host path or, for an image volume, the image reference. */
  readonly volumes: MountedVolumes;
  /** Undefined if the pod has no sandbox yet. */
  readonly sandbox: ObservedSandbox | undefined;
  /** The resources of the existing container, if they differ from those in the spec. */
  readonly size?: ContainerSize | undefined;
  /**
   * The containers with this name in the runtime. Running containers come first, and the others follow from newest to
   * oldest.
   */
  readonly observed: readonly ObservedContainer[];
  /** The restart count, including the next run. Set only if the runtime has lost the container's last run (C23). */
  readonly restarts?: number | undefined;
  /**
   * The restart count that an earlier agent reported after it had removed the container for a restart of all containers
   * (C5). A reported count must never decrease.
   */
  readonly reportedRestarts?: number | undefined;
  /**
   * The restart count in the pod's last published status. It may include a run that the runtime has lost. Even then,
   * the published count is not lowered.
   */
  readonly publishedRestarts?: number | undefined;
  /** Results of the container's probes from before a restart of the agent. */
  readonly probed?: ProbeResults | undefined;
}

/** Probe results of a container's run, persisted across restarts of the agent (C29). */
export interface ProbeResults {
  /** The container's ID in the runtime. */
  readonly id: string;
  readonly started: boolean;
  readonly ready: boolean;
}

/**
 * Context of a container. `waitingReason` is the reason why the image is missing or the container could not be started.
 */
export interface ContainerContext
  extends Omit<ContainerInput, 'sandbox' | 'size' | 'observed' | 'probed'>,
    ImageProgress {
  readonly sandbox?: ObservedSandbox | undefined;
  /** The sandbox that the pod has lost, or null if no process remains in it. Undefined until a sandbox is lost. */
  readonly lostSandbox?: ObservedSandbox | null | undefined;
  /** Whether the existing container was created in an earlier sandbox of the pod. */
  readonly isFromEarlierSandbox?: boolean | undefined;
  /**
   * Whether the container's turn to start has come in the current sandbox. The turn is lost together with the sandbox.
   */
  readonly hasTurn: boolean;
  /** Attempt number of the current container, or of the next one if none exists. It is also the restart count. */
  readonly attempt: number;
  /**
   * Whether `attempt` was already reported, either with a start that was refused because the sandbox was going away, or
   * by an earlier agent.
   */
  readonly isAttemptReported?: boolean | undefined;
  /**
   * ID of the container that an earlier agent created for this attempt and did not start. The status contains this ID
   * until the next container is created.
   */
  readonly unstartedId?: string | undefined;
  readonly imageRef?: string | undefined;
  /**
   * Whether the runtime did not know the container's state when this agent first observed it. Like the kubelet, the
   * agent then reports this container and its attempt as waiting (`convertToAPIContainerStatuses` in
   * pkg/kubelet/kubelet_pods.go).
   */
  readonly wasStateUnknown?: boolean | undefined;
  /** Details of the container that the runtime created last. */
  readonly createdContainer?: CreatedContainer | undefined;
  /** The runtime's ID of the current attempt's container. */
  readonly id?: string | undefined;
  /**
   * Creation time of the container with the ID `id`, in milliseconds since the epoch. Undefined until the runtime has
   * reported it.
   */
  readonly createdAt?: number | undefined;
  readonly startedAt?: number | undefined;
  /** ID of the container if it has passed its startup probe or has no startup probe. */
  readonly startupPassedId?: string | undefined;
  /** The run that was already in progress when this agent started, with its probe results. */
  readonly adopted?: ProbeResults | undefined;
  /**
   * Whether a container that had already been started existed when this actor was created. That container may still be
   * running.
   */
  readonly hasRunBefore?: boolean | undefined;
  readonly createdIdentity?: string | undefined;
  /** The version of the pod that the current attempt to create the container uses. */
  readonly attemptedPod?: Pod | undefined;
  readonly size?: ContainerSize | undefined;
  /** The terminated run of the current attempt. */
  readonly run?: TerminatedRun | undefined;
  /** The run before `run`. */
  readonly earlierRun?: TerminatedRun | undefined;
  /** The run before `earlierRun`. */
  readonly oldestRun?: TerminatedRun | undefined;
  /**
   * The reaction to the exit of the process. The restart rules decide (`byPolicy`), unless a command or a new spec
   * requires a different reaction. `ended.choosing` selects the next state for each reaction. The reaction is not
   * modeled as a state, because it can change while calls and hooks are in flight, and a transition between sibling
   * states would abort them. In a parallel region, the state would change too late, because XState takes the eventless
   * transitions of `stopping` and `ended` before it processes raised events.
   */
  readonly exitReaction: 'byPolicy' | 'recreate' | 'restartWithPod' | 'stop';
  /** Output of the probe that caused the current run to be stopped. The run is then treated as failed. */
  readonly stopCause?: string | undefined;
  /** Whether other containers stop first. Until they have stopped, this container's process keeps running (C11). */
  readonly awaitsOtherContainers: boolean;
  /**
   * Whether the container is removed from the runtime once it has stopped. This is the case if its pod continues
   * without it.
   */
  readonly removesContainer: boolean;
  /**
   * Deadline for stopping the container, in milliseconds since the epoch. Undefined if the pod's own grace period
   * applies from the start of the stop.
   */
  readonly stopBy?: number | undefined;
  /**
   * Grace period for stopping the container, in seconds. Clock adjustments do not affect it. Undefined if the pod's own
   * grace period applies.
   */
  readonly stopGraceSeconds?: number | undefined;
  /**
   * Whether the node kills the current run in order to restart the container. The kubelet does both within one sync, in
   * which its back-off does not take the killed run into account yet (C7).
   */
  readonly isKilledToRestart?: boolean | undefined;
  /**
   * The back-off delay recorded for the last start. If it is undefined, the next start is immediate and is recorded
   * with a delay of 0.
   */
  readonly crashDelayMs?: number | undefined;
  /** Part of the back-off delay that had already passed when the current waiting state was entered, in milliseconds. */
  readonly elapsedBackOffMs?: number | undefined;
  /** Due time of the next attempt in milliseconds since the epoch, or 0 if unknown. */
  readonly retryAt: number;
}

export function initialContext(input: ContainerInput): ContainerContext {
  const { observed, probed, ...rest } = input;
  const { restarts = 0 } = input;
  const [newest, previous] = observed;
  const adopted = newest && (probed?.id === newest.id ? probed : { id: newest.id, started: false, ready: false });
  return {
    ...rest,
    adopted,
    startupPassedId: adopted?.started ? adopted.id : undefined,
    hasRunBefore: newest !== undefined && newest.state !== 'created',
    isFromEarlierSandbox: newest !== undefined && newest.sandboxId !== input.sandbox?.id,
    hasTurn: false,
    attempt: newest ? Math.max(newest.attempt, restarts - 1) : restarts,
    id: newest?.id,
    createdAt: newest?.createdAt,
    createdIdentity: newest?.hash || undefined,
    imageRef: newest?.imageRef,
    size: newest && (input.size ?? unknownSize(input)),
    earlierRun: previous ? readRun(previous) : newest ? undefined : lostRun(input),
    exitReaction: 'byPolicy',
    awaitsOtherContainers: false,
    removesContainer: false,
    imageDelayMs: 0,
    retryAt: 0,
  };
}

/**
 * Returns the terminated run, or undefined if its details could not be read yet. A later observation of the container
 * supplies them.
 */
const readRun = (observed: ObservedContainer): TerminatedRun | undefined =>
  observed.state === 'exited' && observed.exitCode === undefined ? undefined : terminatedRun(observed);

/** Returns the port input that identifies the current attempt's container. */
export const knownContainer = ({ pod, name, id = '', attempt, createdAt }: ContainerContext): KnownContainer => ({
  pod,
  container: name,
  id,
  attempt,
  ...(createdAt === undefined ? {} : { createdAt }),
});

export const sizeOf = (context: { readonly pod: Pod; readonly name: string }): ContainerSize =>
  containerSize(context.pod.spec, specOf(context));

const NO_SIZE: ContainerSize = { cpuRequest: 0, cpuLimit: 0, memoryLimit: 0, memoryRequest: 0 };

/**
 * Returns the assumed resources of a container for which none were persisted. Like the kubelet, the node assumes no
 * resources, so that it sends those in the spec to the runtime again. This has no effect if the container already has
 * them (`computePodResizeAction` in `pkg/kubelet/kuberuntime/kuberuntime_manager.go`). The kubelet also restarts a
 * container whose resize policy requires it. This agent instead assumes that such a container has the resources in the
 * spec.
 */
function unknownSize(input: ContainerInput): ContainerSize {
  const { spec } = input.pod;
  const container = specOf(input);
  return needsRestart(spec, container, NO_SIZE) ? containerSize(spec, container) : NO_SIZE;
}

/** Whether the container's resources in the runtime differ from those in its spec. */
export const hasWrongSize = (context: ContainerContext): boolean =>
  context.size !== undefined && !hasSameSize(context.size, sizeOf(context));

/** Returns the key that identifies the container's request to a limiter. */
export const slotKey = (context: Pick<ContainerContext, 'pod' | 'name'>, limiter: string): string =>
  `${context.pod.metadata.uid}/${context.name}/${limiter}`;

/**
 * Returns the key by which the back-off is tracked. A different image or different resources change the key and
 * therefore reset the back-off (C7).
 */
export const backOffKey = (context: { readonly pod: Pod; readonly name: string }): string =>
  `${identityOf(context)} ${resourceKey(specOf(context).resources ?? {})}`;

export function specOf(context: { readonly pod: Pod; readonly name: string }): Container {
  const namedContainer = findContainerByName(context.pod.spec, context.name);
  if (namedContainer === undefined)
    throw new Error(`pod ${context.pod.metadata.name} has no container ${context.name}`);
  return namedContainer.container;
}

/** Returns the context of the next attempt. The terminated run is retained for the status. */
export const nextAttempt = (context: ContainerContext): Partial<ContainerContext> => ({
  ...(context.id === undefined
    ? {}
    : { attempt: context.attempt + 1, isAttemptReported: undefined, unstartedId: undefined }),
  id: undefined,
  isFromEarlierSandbox: undefined,
  createdIdentity: undefined,
  startedAt: undefined,
  wasStateUnknown: undefined,
  stopCause: undefined,
  isKilledToRestart: undefined,
  ...pastRuns(context),
  exitReaction: 'byPolicy',
});

/** Moves the terminated run of the current attempt, if any, to the earlier runs. */
export const pastRuns = ({ run, earlierRun, oldestRun }: ContainerContext): Partial<ContainerContext> =>
  run ? { run: undefined, earlierRun: run, oldestRun: earlierRun } : { run, earlierRun, oldestRun };

/** Returns the input of the port that runs a lifecycle hook. `deadline` is in milliseconds since the epoch. */
export const hookInput = (
  { pod, name, id = '', sandbox, lostSandbox, stopGraceSeconds }: ContainerContext,
  hook: 'postStart' | 'preStop',
  deadline: number | undefined,
) => ({
  pod,
  container: name,
  id,
  hook,
  podIp: (sandbox ?? lostSandbox)?.ips?.[0],
  deadline,
  graceSeconds: stopGraceSeconds ?? pod.spec.terminationGracePeriodSeconds ?? 30,
});

/**
 * Applies a stop command. A stop is final. Later commands can only make its deadline earlier (C10), and a turn to stop
 * is not revoked (C11).
 */
export const stopFields = (
  context: ContainerContext,
  { deadline, graceSeconds, awaitsOtherContainers = false, removesContainer = false }: StopCommand,
): Partial<ContainerContext> => ({
  exitReaction: 'stop',
  stopBy: earlierDeadline(context.stopBy, deadline),
  stopGraceSeconds: earlierDeadline(context.stopGraceSeconds, graceSeconds),
  awaitsOtherContainers: awaitsOtherContainers && (context.exitReaction !== 'stop' || context.awaitsOtherContainers),
  removesContainer: context.removesContainer || removesContainer,
});

type StopCommand = Extract<ContainerEvent, { type: 'container.stop' }>;

/** Returns the earlier of two deadlines, either of which may be undefined. */
export const earlierDeadline = (
  firstDeadline: number | undefined,
  secondDeadline: number | undefined,
): number | undefined =>
  firstDeadline === undefined ? secondDeadline : Math.min(firstDeadline, secondDeadline ?? Infinity);

/** Returns the maximum remaining crash-loop back-off, in milliseconds from the entry into the waiting state (C7). */
export const remainingBackOffMs = ({ crashDelayMs = 0, elapsedBackOffMs = 0 }: ContainerContext): number =>
  Math.max(0, crashDelayMs - elapsedBackOffMs);

export function identityOf(context: { readonly pod: Pod; readonly name: string }): string {
  const { name, image = '' } = specOf(context);
  return containerHash({ name, image });
}
