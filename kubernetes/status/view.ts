/**
 * Defines the views of a pod's actors, from which the pod's status is computed. The machines create these views from
 * their snapshots. Times are in milliseconds since the epoch.
 */

import type { FailureReason } from '../../base/failure.ts';
import type { Refusal } from '../admission/refusal.ts';
import type { Pod, PodSpec } from '../api/schema/pod.ts';
import type { PodCondition, PodStatus } from '../api/schema/status.ts';
import type { ClaimState } from '../claims/claimState.ts';
import type { DeviceStatus } from '../devices/devices.ts';
import type { CreatedContainer, ObservedSandbox } from '../lifecycle/observed.ts';
import type { ContainerSize } from '../resources/containerSize.ts';

/** Reason why a container is waiting, as in a ContainerStateWaiting (C16). */
export type WaitReason =
  | FailureReason
  | 'ContainerCreating'
  | 'CrashLoopBackOff'
  | 'ErrImageNeverPull'
  | 'ImageInspectError'
  | 'ImagePullBackOff'
  | 'PodInitializing'
  | 'RestartingAllContainers';

/** A completed run of a container. */
export interface TerminatedRun {
  readonly containerId: string;
  readonly exitCode: number;
  readonly signal?: number;
  readonly reason: string;
  readonly message?: string;
  /**
   * Reason why the node stopped the run, e.g. the failed probe and its output. Undefined if the run exited on its own.
   */
  readonly stopCause?: string;
  /** Start time. 0 if the runtime could not start the container. Undefined if the time is unknown. */
  readonly startedAt?: number;
  readonly finishedAt?: number;
}

export type ContainerRole = 'init' | 'sidecar' | 'regular' | 'ephemeral';

export type ProbeKind = 'startup' | 'liveness' | 'readiness';

export interface ContainerView {
  readonly name: string;
  readonly role: ContainerRole;
  readonly restartCount: number;
  /** The current state, as in a ContainerState. */
  readonly now:
    | { readonly kind: 'waiting'; readonly reason: WaitReason; readonly message?: string }
    /** `startedAt` is undefined if the runtime has not reported the start time. */
    | { readonly kind: 'running'; readonly startedAt: number | undefined }
    | { readonly kind: 'terminated'; readonly run: TerminatedRun };
  /** The last run that completed before the current state. */
  readonly lastRun?: TerminatedRun;
  /**
   * Whether the container will run again on its own, because it is in back-off or about to be created. Always false in
   * a terminating pod.
   */
  readonly willRestart: boolean;
  readonly ready: boolean;
  readonly started: boolean;
  readonly containerId?: string;
  /**
   * Whether `containerId` refers to a container that waits to run, instead of the terminated one. This is the case if
   * an earlier agent created the waiting container without starting it, or if the runtime does not know its state.
   */
  readonly isAwaitingRun?: boolean;
  /**
   * Whether the state of the container is unknown to the runtime. Such a container is stopped before it is restarted.
   */
  readonly isStateUnknown?: boolean;
  /** Details of the container's latest instance in the runtime. */
  readonly createdContainer?: CreatedContainer;
  /** The resources that the container currently has in the runtime. */
  readonly size?: ContainerSize;
}

export interface VolumeView {
  readonly name: string;
  /** Reason why the containers that mount the volume cannot be created yet, as in a ContainerStateWaiting (C16). */
  readonly waitingReason?: { readonly reason: WaitReason; readonly message: string };
}

/** Reason why a pod is terminated. The type is closed because other code branches on the reason. */
export type TerminationReason =
  | 'Completed'
  | 'DeadlineExceeded'
  | 'Evicted'
  /** The pod has a deletion timestamp at its source. */
  | 'Deleted'
  /** The API server already has a terminal phase for the pod, which another component may have set. */
  | 'EndedElsewhere'
  | 'NodeShutdown'
  | 'Orphaned'
  | 'Preempting'
  | 'Removed'
  /** The host is shutting down. */
  | 'Terminated';

/**
 * The command to terminate a pod. Possible causes include a removed manifest, eviction, preemption, shutdown and
 * completion.
 */
export interface Termination {
  readonly reason: TerminationReason;
  readonly message?: string;
  /** Grace period in seconds that the cause specifies, or else the pod's `terminationGracePeriodSeconds`. */
  readonly graceSeconds: number;
  /**
   * Phase that the cause sets. Undefined if the phase results from the exits of the containers. A terminal phase from
   * the exits also takes precedence over the phase that preemption sets (C2).
   */
  readonly phase?: 'Failed' | 'Succeeded';
  /** Time of the command, in milliseconds since the epoch. */
  readonly at: number;
  /**
   * Whether the status of the pod is not reported, because the source has not listed the pod or its terminal status has
   * already been reported.
   */
  readonly isUnreported?: boolean;
  /** Whether the terminated pod stays on the node while its source still lists it. */
  readonly staysUntilUnlisted?: boolean;
  /**
   * Whether the active deadline passed while the pod was terminating for this cause. The status then reports the
   * exceeded deadline (C2).
   */
  readonly exceedsDeadline?: boolean;
  /** Message of the DisruptionTarget condition. Undefined if the pod was not disrupted. */
  readonly disruption?: string;
  /** Whether the pod reports to the node when it has stopped, and when it has been cleaned up. */
  readonly isAwaited?: boolean;
}

/** Statuses of a pod's terminated containers. */
export type ContainerEnds = Pick<
  PodStatus,
  'containerStatuses' | 'ephemeralContainerStatuses' | 'initContainerStatuses'
>;

export interface PodView {
  readonly pod: Pod;
  /** Tags of the current state of the pod's actor. */
  readonly tags: readonly string[];
  /** Conditions that other components have set, as reported by the source. */
  readonly conditions?: readonly PodCondition[] | undefined;
  readonly sandbox?: ObservedSandbox;
  readonly containers: readonly ContainerView[];
  readonly volumes: readonly VolumeView[];
  /** The devices of the pod's containers. Undefined if it has none. */
  readonly devices?: readonly DeviceStatus[] | undefined;
  /** Reason why the node refuses the pod. The pod's phase is then Failed, with this reason. */
  readonly refusal?: Refusal;
  /** Reason why the node does not admit an update. The pod continues to run the version that was admitted before. */
  readonly updateRefusal?: Refusal;
  /** Spec whose resources have been applied to the pod's cgroup. Undefined if it is the spec of `pod`. */
  readonly appliedSpec?: PodSpec;
  /** Spec whose resources a failed resize may have applied to the pod's cgroup. Undefined if there is none. */
  readonly uncertainSpec?: PodSpec | undefined;
  /** Sizes that containers may have after a failed resize, by container name. Undefined if there are none. */
  readonly uncertainSizes?: Readonly<Record<string, ContainerSize>> | undefined;
  /** Generation of the pod in which the refused resources were requested. */
  readonly pendingGeneration?: number | undefined;
  /** Whether the admitted resources have yet to be applied to the containers or the cgroup. */
  readonly isResizing?: boolean;
  /** Generation of the pod in which the resize in progress was requested. */
  readonly resizeGeneration?: number | undefined;
  /** Last error of the resize in progress, which an earlier agent may have persisted. */
  readonly resizeFailure?: string | undefined;
  /** The claims that are prepared for the pod, with the health of their devices. */
  readonly claims?: readonly ClaimState[];
  readonly termination?: Termination;
  /** Whether the pod is completing on its own, in which case none of its containers will run again. */
  readonly isCompleting?: boolean;
  /** Whether the active deadline passed while the pod was terminating for any cause. */
  readonly exceedsDeadline?: boolean;
  /**
   * Terminal status that the pod had before the agent restarted. It is reported unchanged, regardless of which objects
   * of the pod remain.
   */
  readonly restoredStatus?: PodStatus;
  /** Statuses of terminated containers that an earlier agent persisted, for a pod whose source has no status. */
  readonly containerEnds?: ContainerEnds;
  /** Restart counts of containers without a view, derived from their logs (C23). The counts include the next run. */
  readonly restarts?: Readonly<Record<string, number>>;
  /**
   * Time at which the node started the pod. After a restart of the agent, it is the creation time of the oldest
   * sandbox. Undefined if the pod has not been started.
   */
  readonly startedAt?: number;
  /** Whether all init containers have completed and all sidecars have started in the current sandbox. */
  readonly isInitialized: boolean;
  /** Whether all containers are being restarted in place because of a restart rule. */
  readonly isRestartingAll?: boolean;
  /**
   * Whether the status may be incomplete, because it is unknown which objects of the pod the runtime or another agent
   * has.
   */
  readonly isUnsettled?: boolean;
  /** Whether no container of the pod is running or can run again. Only then may a terminal phase be published. */
  readonly hasEnded: boolean;
  /** Whether the volumes and the cgroup of the pod have also been removed. */
  readonly isReclaimed: boolean;
}
