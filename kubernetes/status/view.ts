/**
 * Defines the views of a pod's actors, from which the pod's status is computed. The machines build them from their
 * snapshots. Times are milliseconds since the epoch.
 */

import type { FailureReason } from '../../base/failure.ts';
import type { Refusal } from '../admission/refusal.ts';
import type { Pod, PodSpec } from '../api/schema/pod.ts';
import type { PodCondition, PodStatus } from '../api/schema/status.ts';
import type { CreatedContainer, ObservedSandbox } from '../lifecycle/observed.ts';
import type { ContainerSize } from '../resources/containerSize.ts';

/** Reason why a container waits, as in a ContainerStateWaiting (C16). */
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
  /** Why the node stopped the run, e.g. the failed probe and its output. Undefined if the run exited on its own. */
  readonly stopCause?: string;
  /** 0 if the runtime could not start the container. Undefined if the time is unknown. */
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
  /** The previous run. */
  readonly lastRun?: TerminatedRun;
  /**
   * Whether the container will run again without intervention, because it is in back-off or about to be created. Always
   * false in a terminating pod.
   */
  readonly willRestart: boolean;
  readonly ready: boolean;
  readonly started: boolean;
  readonly containerId?: string;
  /**
   * Whether `containerId` is a container that waits to run, not the one that terminated. An earlier agent created that
   * container without starting it, or the runtime does not know its state.
   */
  readonly isAwaitingRun?: boolean;
  /**
   * Whether the runtime does not know the state of the container, which is therefore stopped before it is restarted.
   */
  readonly isStateUnknown?: boolean;
  /** Details of the container's latest instance in the runtime. */
  readonly createdContainer?: CreatedContainer;
  /** The resources that the container currently has in the runtime. */
  readonly size?: ContainerSize;
  /** Error of the last attempt to apply the admitted resources. Undefined if they have been applied. */
  readonly resizeFailure?: string;
}

export interface VolumeView {
  readonly name: string;
  /** Why the containers that mount the volume cannot be created, as in a ContainerStateWaiting (C16). */
  readonly waitingReason?: { readonly reason: WaitReason; readonly message: string };
}

/** Reason why a pod is terminated. The list is closed because other code branches on it. */
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
  | 'Removed';

/**
 * The command that terminates a pod for any cause, such as a removed manifest, eviction, preemption, shutdown or
 * completion.
 */
export interface Termination {
  readonly reason: TerminationReason;
  readonly message?: string;
  /**
   * Grace period in seconds that the cause requests. If it requests none, this is the pod's
   * `terminationGracePeriodSeconds`.
   */
  readonly graceSeconds: number;
  /**
   * The phase that the cause sets. Undefined if the exits of the containers determine the phase. A terminal phase from
   * the exits also takes precedence over the phase that preemption sets (C2).
   */
  readonly phase?: 'Failed' | 'Succeeded';
  /** Timestamp of the request. */
  readonly at: number;
  /**
   * Whether no status is reported, because the source has not listed the pod or its terminal status was already
   * reported.
   */
  readonly isUnreported?: boolean;
  /** Whether the terminated pod stays on the node while its source still lists it. */
  readonly staysUntilUnlisted?: boolean;
  /** Whether the active deadline passed while the pod terminated for this cause. The status then reports it (C2). */
  readonly exceedsDeadline?: boolean;
  /** Message of the DisruptionTarget condition. Undefined if the pod was not disrupted. */
  readonly disruption?: string;
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
  /** Why the node refuses the pod, which then has the phase Failed with this reason. */
  readonly refusal?: Refusal;
  /** Why the node does not admit an update. The pod continues with the version that was admitted before. */
  readonly updateRefusal?: Refusal;
  /** The version whose resources have been applied to the pod's cgroup. Undefined if that version is `pod`. */
  readonly appliedSpec?: PodSpec;
  /** Generation of the pod that requested the resources in `updateRefusal`. */
  readonly pendingGeneration?: number | undefined;
  /** Whether the admitted resources have yet to be applied to the containers or the cgroup. */
  readonly isResizing?: boolean;
  /** Generation of the pod that requested the resize in progress. */
  readonly resizeGeneration?: number | undefined;
  /** Last error of the resize in progress, including those of an earlier agent. */
  readonly resizeFailure?: string | undefined;
  readonly termination?: Termination;
  /** Whether the pod is completing on its own and none of its containers will run again. */
  readonly isCompleting?: boolean;
  /** Whether the active deadline passed while the pod terminated for any cause. */
  readonly exceedsDeadline?: boolean;
  /**
   * Terminal status that the pod had before the agent restarted. It is reported unchanged, no matter which objects of
   * the pod remain.
   */
  readonly restoredStatus?: PodStatus;
  /** Terminated container states that an earlier agent has persisted, for a pod whose source has no status. */
  readonly containerEnds?: ContainerEnds;
  /** Restart counts of containers without a view, including the next run, derived from their logs (C23). */
  readonly restarts?: Readonly<Record<string, number>>;
  /**
   * When the node started the pod. After a restart of the agent, it is the creation time of the oldest sandbox.
   * Undefined if the pod has not been started.
   */
  readonly startedAt?: number;
  /** Whether all init containers have completed, and all sidecars started, in the current sandbox. */
  readonly isInitialized: boolean;
  /** Whether all containers are being restarted in place because of a restart rule. */
  readonly isRestartingAll?: boolean;
  /**
   * Whether it is unknown which objects of the pod the runtime or another agent has, in which case a status may be
   * incomplete.
   */
  readonly isUnsettled?: boolean;
  /** Whether no container of the pod runs or can run again. Only then may a terminal phase be published. */
  readonly hasEnded: boolean;
  /** Whether the volumes and the cgroup of the pod are removed as well. */
  readonly isReclaimed: boolean;
}
