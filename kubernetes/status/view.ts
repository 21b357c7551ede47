/** What of a pod's actors its status is computed from: the machines make it of their snapshots. Times are milliseconds since the epoch. */

import type { FailureReason } from '../../base/failure.ts';
import type { Refusal } from '../admission/refusal.ts';
import type { Pod, PodSpec } from '../api/schema/pod.ts';
import type { PodCondition, PodStatus } from '../api/schema/status.ts';
import type { MadeContainer, ObservedSandbox } from '../lifecycle/observed.ts';
import type { ContainerSize } from '../resources/containerSize.ts';

/** Why a container waits, in the words of a ContainerStateWaiting (C16). */
export type WaitReason =
  | FailureReason
  | 'ContainerCreating'
  | 'CrashLoopBackOff'
  | 'ErrImageNeverPull'
  | 'ImageInspectError'
  | 'ImagePullBackOff'
  | 'PodInitializing'
  | 'RestartingAllContainers';

/** How a run of a container ended. */
export interface TerminatedRun {
  readonly containerId: string;
  readonly exitCode: number;
  readonly signal?: number;
  readonly reason: string;
  readonly message?: string;
  /** Why the node itself ended it, where it did: the probe that failed, and what it said. */
  readonly because?: string;
  /** 0 if the runtime could not start the container. Undefined if nobody knows. */
  readonly startedAt?: number;
  readonly finishedAt?: number;
}

export type ContainerRole = 'init' | 'sidecar' | 'regular' | 'ephemeral';

export type ProbeKind = 'startup' | 'liveness' | 'readiness';

export interface ContainerView {
  readonly name: string;
  readonly role: ContainerRole;
  readonly restartCount: number;
  /** Exactly one of the three, as in a ContainerState. */
  readonly now:
    | { readonly kind: 'waiting'; readonly reason: WaitReason; readonly message?: string }
    | { readonly kind: 'running'; readonly startedAt: number }
    | { readonly kind: 'terminated'; readonly run: TerminatedRun };
  /** The run before the present one. */
  readonly last?: TerminatedRun;
  /** Whether it will run again by itself (in back-off, or about to be created); never while its pod ends. */
  readonly willRestart: boolean;
  readonly ready: boolean;
  readonly started: boolean;
  readonly containerId?: string;
  /**
   * That one is what waits, not the one that ended before it: it was made by an earlier agent and never started, or the
   * runtime does not know its state.
   */
  readonly atHand?: boolean;
  /** The latest container of it that the runtime has shown. */
  readonly made?: MadeContainer;
  /** The resources that it has at the runtime, in numbers. */
  readonly size?: ContainerSize;
  /** The error of the last attempt to apply the resources that were admitted for it. Undefined if they are applied. */
  readonly resizeFailure?: string;
}

export interface VolumeView {
  readonly name: string;
  /** Why the containers that mount it cannot be made, in the words of a ContainerStateWaiting (C16). */
  readonly waitingReason?: { readonly reason: WaitReason; readonly message: string };
}

/** Why a pod ends. Closed, as what becomes of it is decided by it. */
export type TerminationReason =
  | 'Completed'
  | 'DeadlineExceeded'
  | 'Evicted'
  /** Its source says that it is being deleted. */
  | 'Deleted'
  /** Its API server says that it has ended, whoever has told that. */
  | 'EndedElsewhere'
  | 'NodeShutdown'
  | 'Orphaned'
  | 'Preempting'
  | 'Removed';

/** The command that ends a pod: one for every cause (a removed manifest, eviction, preemption, shutdown, completion). */
export interface Termination {
  readonly reason: TerminationReason;
  readonly message?: string;
  /** Seconds; what the cause asks for, before the pod's own `terminationGracePeriodSeconds` fills it in. */
  readonly graceSeconds: number;
  /**
   * The phase that the cause sets. Undefined if the exits of the containers decide. They also take precedence over the phase
   * that preemption sets (C2).
   */
  readonly phase?: 'Failed' | 'Succeeded';
  /** When it was asked for. */
  readonly at: number;
  /** Of what is left of a pod nothing is told: no source has told of it, or how it ended was told before. */
  readonly isUnheard?: boolean;
  /** Its sources may go on wanting it: it stays, as one that has ended, until they do not. */
  readonly stays?: boolean;
  /** Its active deadline passed while it ended for this cause: that is what its status says (C2). */
  readonly exceedsDeadline?: boolean;
  /** What the condition DisruptionTarget says of it; absent where the pod was not disrupted. */
  readonly disruption?: string;
}

/** The statuses of the containers of a pod that have an end to report. */
export type ContainerEnds = Pick<
  PodStatus,
  'containerStatuses' | 'ephemeralContainerStatuses' | 'initContainerStatuses'
>;

export interface PodView {
  readonly pod: Pod;
  /** Those of the state of its actor. */
  readonly tags: readonly string[];
  /** Those that its source has, with those that others tell. */
  readonly conditions?: readonly PodCondition[] | undefined;
  readonly sandbox?: ObservedSandbox;
  readonly containers: readonly ContainerView[];
  readonly volumes: readonly VolumeView[];
  /** Why the node does not take it; the pod is Failed with this reason. */
  readonly refused?: Refusal;
  /** Why the node does not take an update; the pod goes on as it was admitted before. */
  readonly unadmitted?: Refusal;
  /** The version whose resources the pod's cgroup has, where these are not those of `pod`. */
  readonly applied?: PodSpec;
  /** The generation of the pod that requested the resources in `unadmitted`. */
  readonly pendingGeneration?: number | undefined;
  /** Whether its containers or its cgroup have still to get the resources that were admitted. */
  readonly resizing?: boolean;
  /** The generation of the pod that requested the resize in progress. */
  readonly resizeGeneration?: number | undefined;
  /** The last error of the resize in progress, also that of an earlier agent. */
  readonly resizeFailure?: string | undefined;
  readonly termination?: Termination;
  /** It ends by itself: nothing of it is to run any more. */
  readonly completes?: boolean;
  /** Its active deadline passed while it ended, whatever it ends for. */
  readonly exceedsDeadline?: boolean;
  /** The terminal status that it had reached before the agent restarted: told as it is, whatever is left of the pod. */
  readonly restored?: PodStatus;
  /** The ends of containers that an earlier agent has persisted, of a pod whose source has no status of it. */
  readonly containerEnds?: ContainerEnds;
  /** How often containers were restarted that have no view yet, counting the run to come, as their logs tell (C23). */
  readonly restarts?: Readonly<Record<string, number>>;
  /** When the node began with it, as its oldest sandbox tells after a restart of the agent; absent before. */
  readonly startedAt?: number;
  /** All init containers have done their part for the present sandbox. */
  readonly initialized: boolean;
  /** All its containers are being restarted in place, as a restart rule wants it. */
  readonly restartsAll?: boolean;
  /** What the runtime, or another agent, has of it is not known yet: a status says less than there may be. */
  readonly unsettled?: boolean;
  /** No container of it runs or can run any more: only now may a terminal phase be published. */
  readonly ended: boolean;
  /** Its volumes and its cgroup are gone as well. */
  readonly reclaimed: boolean;
}
