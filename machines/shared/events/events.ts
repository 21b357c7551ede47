/**
 * Defines the events between actors, named `source.fact`. Commands are sent to children, and to the actors that serve
 * all pods (limiters and admission). The actors that serve all pods reply to the requesting actor.
 */

import type { ActorRef, DoneActorEvent, ErrorActorEvent, Snapshot } from 'xstate';
import type { Failure } from '../../../base/failure.ts';
import type { AdmissionNode } from '../../../kubernetes/admission/node.ts';
import type { Refusal } from '../../../kubernetes/admission/refusal.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type { PodCondition } from '../../../kubernetes/api/schema/status.ts';
import type { ClaimState } from '../../../kubernetes/claims/claimState.ts';
import type { DeviceStatus } from '../../../kubernetes/devices/devices.ts';
import type { ObservedContainer, ObservedPod, ObservedSandbox } from '../../../kubernetes/lifecycle/observed.ts';
import type { OomKill } from '../../../kubernetes/lifecycle/oomKill.ts';
import type { ObservedMirror } from '../../../kubernetes/mirror.ts';
import type { MountedVolume, MountedVolumes } from '../../../kubernetes/mountedVolume.ts';
import type { NodeCondition } from '../../../kubernetes/node/nodeConditions.ts';
import type { RuntimeReport } from '../../../kubernetes/node/runtimeReport.ts';
import type { ContainerSize } from '../../../kubernetes/resources/containerSize.ts';
import type { Capacity, PodRequests, PodResourceRequests } from '../../../kubernetes/resources/requests.ts';
import type { ResizableResource } from '../../../kubernetes/resources/resize.ts';
import type { ProbeKind, Termination } from '../../../kubernetes/status/view.ts';
import type { SourceState } from '../../node/pods/source.ts';
import type { PlegState } from '../../node/runtime/pleg.ts';
import type { PodCidrState } from '../../node/runtime/podCidr.ts';
import type { WaitingReason } from '../views/waitingReason.ts';
import type { ClusterFact } from './clusterFacts.ts';
import type {
  DeviceCountReport,
  DeviceFact,
  DeviceReport,
  DeviceStatusReport,
  ReallocationRequest,
  ReallocationResult,
} from './deviceEvents.ts';
import type { EvictionReport, MemoryFact, TerminationReport } from './evictionEvents.ts';
import type { LogindFact, ShutdownReport } from './shutdownEvents.ts';
import type { ActorPath, SlotGranted, TimerEvent } from './slots.ts';
import type {
  ClaimsFact,
  ClaimsReport,
  CpusReport,
  GarbageReport,
  ImageGarbageReport,
  LogsReport,
} from './upkeepEvents.ts';

/**
 * An actor typed only by the events that it accepts, so that the types of parent and child do not depend on each other.
 */
export type Ref<E extends { type: string }> = ActorRef<Snapshot<unknown>, E>;

/** The decision on an admission request. `pod` is the admitted version of the pod, which may not be the latest one. */
export type AdmissionResult = { type: 'admission.admitted'; pod: Pod } | ({ type: 'admission.refused' } & Refusal);

export type AdmissionEvent =
  /**
   * Requests admission. `isAdopted` marks a pod that the runtime already has, which is refused only if its devices are
   * missing and none of its containers is running.
   */
  | {
      type: 'admission.request';
      uid: string;
      fullName: string;
      pod: Pod;
      requests: PodRequests;
      /** The resources that were admitted before a restart of the agent. */
      allocated?: PodResourceRequests;
      isAdopted: boolean;
      /** Whether a container of the pod is running. */
      isRunning?: boolean;
      /** Whether the request changes the resources of the pod. Such a request must pass the checks of a new pod. */
      isResize?: boolean;
      /** The resources whose requests the update changes for at least one container. */
      changedRequests?: readonly ResizableResource[];
      /** Whether none of the pod's containers will run again, in which case its resources are about to be released. */
      isFinished?: boolean;
      holder: ActorPath;
    }
  /** The containers and the cgroup of a pod have the resources that were admitted last. */
  | { type: 'admission.resizeCompleted'; uid: string }
  /** Adds a pod that only has to terminate. `requests` is null if the pod is no longer running. */
  | { type: 'admission.addTerminating'; uid: string; fullName: string; requests: PodRequests | null }
  /** No source contains the pod any longer. Other pods wait for its resources instead of being refused (C9). */
  | { type: 'admission.leave'; uid: string }
  /**
   * The containers of the pod have stopped. Until its sandbox has stopped, only its host ports remain reserved (C9).
   */
  | { type: 'admission.containersStopped'; uid: string }
  /**
   * The pod has stopped. Its resources are free, but its full name remains reserved until the pod is released (C24).
   */
  | { type: 'admission.releaseResources'; uid: string }
  /** The pod has been removed completely. */
  | { type: 'admission.release'; uid: string }
  /** The CPU assignments with this revision number, and all earlier ones, are durable. */
  | { type: 'admission.cpusSaved'; revision: number }
  /** The memory assignments with this revision number, and all earlier ones, are durable. */
  | { type: 'admission.memorySaved'; revision: number }
  /** The init containers of the pod have completed. `containers` are the names of those that are not sidecars. */
  | { type: 'admission.initialized'; uid: string; containers: readonly string[] }
  /** The node knows all of its pods. CPUs and memory that are assigned to any other pod are released. */
  | { type: 'admission.podsKnown'; uids: readonly string[] }
  /**
   * Properties of the node have changed. Waiting requests and refused updates are decided again. Undefined properties
   * have not changed.
   */
  | { type: 'admission.nodeChanged'; capacity?: Capacity; node?: Partial<Omit<AdmissionNode, 'name'>> }
  | ReallocationRequest
  | DeviceReport;

/**
 * Requests the termination of pods in order to make room for a critical pod, which waits until they have terminated
 * (C24).
 */
export type AdmissionFact = { type: 'admission.preempting'; uids: readonly string[]; resource: string };

/** The progress of an image, for the container or volume that needs it. */
export interface ImageFact {
  readonly type: 'image.changed';
  readonly isDelayed: boolean;
  /** The back-off delay after the failure, in milliseconds. */
  readonly delayMs: number;
  readonly failure: Failure | undefined;
  readonly waitingReason: WaitingReason | undefined;
}

export type ImageEvent =
  /** The pod was updated in place. */
  | { type: 'image.update'; pod: Pod }
  /** The runtime is available again, so calls that failed because of it can be retried immediately. */
  | { type: 'runtime.returned' }
  | SlotGranted
  | TimerEvent;

/**
 * The progress of a volume as reported to its pod. `delayed` means that it is not available for now, which blocks only
 * the containers that mount it.
 */
export type VolumeLifecycle = 'pending' | 'delayed' | 'mounted' | 'unmounted';

export type VolumeEvent =
  | { type: 'volume.unmount' }
  /**
   * The pod was updated. The definition of an unmounted volume may have changed, and a volume that exposes pod fields
   * has to be refreshed.
   */
  | { type: 'volume.update'; pod: Pod }
  /** A ConfigMap or Secret of the pod has changed. */
  | { type: 'volume.objectsChanged' }
  /** The runtime is available again, so calls that failed because of it can be retried immediately. */
  | { type: 'runtime.returned' }
  | ImageFact
  | TimerEvent;

/**
 * The progress of a container as reported to its pod. In `pending`, the container waits for its turn. In `coming`, it
 * is preparing to start. In `readyToCreate`, it can be launched, and in `delayed`, it is held back by a failure. In
 * `launching`, it is being created and started, including its postStart hook. In `live`, it may have a process, and in
 * `running`, it has completed its hook. In the other lifecycles, it has no process and gets none on its own. A
 * `removed` container no longer exists in the runtime. The exit of a container in `restartsAll` restarts its whole pod
 * in place.
 */
export type ContainerLifecycle =
  | 'pending'
  | 'coming'
  | 'readyToCreate'
  | 'delayed'
  | 'launching'
  | 'live'
  | 'running'
  | 'succeeded'
  | 'failed'
  | 'restartsAll'
  | 'stopped'
  | 'removed';

/**
 * The result of a probe of the container with this ID has changed because a threshold was reached. `at` is the time and
 * `output` is the output of the last attempt.
 */
export type ProbeFact =
  | { type: 'probe.succeeded'; kind: ProbeKind; id: string; at: number }
  | { type: 'probe.failed'; kind: ProbeKind; id: string; at: number; output: string };

export type ContainerEvent =
  /**
   * The container's turn has come. Its sandbox follows in the event `sandbox.ready`. A completed init container runs
   * again.
   */
  | { type: 'container.start' }
  /** The container may be created and started, because no other container of its pod is being launched. */
  | { type: 'container.launch' }
  | ReallocationResult
  /**
   * Stops the container permanently. `deadline` is in milliseconds since the epoch and can only be moved to an earlier
   * time (C10). Without a deadline, the pod's own grace period applies. With `awaitsOtherContainers`, the process keeps
   * running until the other containers have stopped (C11) or the deadline has passed. With `removesContainer`, the
   * container is also removed from the runtime, because its pod continues without it.
   */
  | {
      type: 'container.stop';
      deadline?: number;
      graceSeconds?: number;
      awaitsOtherContainers?: boolean;
      removesContainer?: boolean;
    }
  /**
   * All containers of the pod restart in place. The container is killed immediately and then waits for its turn again.
   */
  | { type: 'container.reset' }
  /** The pod was updated in place. A changed name or image makes it a new container (C6). */
  | { type: 'container.update'; pod: Pod; volumes: MountedVolumes }
  /** The container with this ID has been resized. */
  | { type: 'container.resized'; id: string; size: ContainerSize }
  /** A ConfigMap or Secret of the pod has changed, so a missing one may exist now. */
  | { type: 'container.objectsChanged' }
  | { type: 'sandbox.ready'; sandbox: ObservedSandbox }
  /**
   * The sandbox can no longer be used. `readySandbox` is set if the sandbox is still ready, in which case hooks can run
   * in it.
   */
  | { type: 'sandbox.lost'; readySandbox?: ObservedSandbox }
  /** The current state of the container in the runtime. Null if it is no longer listed. */
  | { type: 'runtime.containerObserved'; id: string; container: ObservedContainer | null }
  /** The runtime is available again, so calls that failed because of it can be retried immediately. */
  | { type: 'runtime.returned' }
  | ProbeFact
  | ImageFact
  | SlotGranted
  | TimerEvent;

export type PodEvent =
  | AdmissionResult
  /** The pod has a new spec, which requires admission first. */
  | { type: 'pod.update'; pod: Pod }
  /** Only the pod's metadata has changed, which may be exposed to its containers. */
  | { type: 'pod.metadataChanged'; metadata: Pod['metadata'] }
  /** The pod's conditions as reported by its source, some of which other controllers set. Undefined if it has none. */
  | { type: 'pod.conditionsChanged'; conditions: readonly PodCondition[] | undefined }
  /**
   * A source contains the pod again while it is terminating. After the termination the pod restarts, and its restart
   * counts continue (C24).
   */
  | { type: 'pod.rewanted' }
  /** A ConfigMap or Secret of the pod has changed. */
  | { type: 'pod.objectsChanged' }
  /** The pod has been allocated devices, or their health has changed. */
  | { type: 'pod.devicesChanged'; devices: readonly DeviceStatus[] }
  /** The claims that are prepared for the pod, with the health of their devices. */
  | { type: 'pod.claimsChanged'; claims: readonly ClaimState[] }
  /** The drivers of claims have changed, so it may now be possible to prepare claims. */
  | { type: 'pod.driversChanged' }
  | { type: 'pod.terminate'; termination: Termination }
  /** A ConfigMap or Secret of the pod has changed or been created. */
  | { type: 'pod.objectsChanged' }
  | { type: 'volume.changed'; name: string; lifecycle: VolumeLifecycle; mountedVolume?: MountedVolume }
  /**
   * `id` is the runtime's ID of the container. `endedAt` is the time at which the last run terminated, in milliseconds
   * since the epoch.
   */
  | { type: 'container.changed'; name: string; lifecycle: ContainerLifecycle; id?: string; endedAt?: number }
  /**
   * The runtime did not find a container, or an object from which the container is created. The sandbox may be gone.
   */
  | { type: 'container.notFound' }
  /** Other work on the node has run since the last batch of commands, so the next batch can be sent. */
  | { type: 'pod.batchDue' }
  /**
   * The pod's active deadline has passed. The grace period starts at `at`. `deadline` and `at` are in milliseconds
   * since the epoch.
   */
  | { type: 'pod.deadlineExceeded'; deadline: number; at: number }
  /** A termination that the node itself initiated has not completed by `deadline` (ms since the epoch). */
  | { type: 'pod.killLimitExceeded'; deadline: number }
  /** The actual resources of a container in the runtime, sent when the container starts and whenever they change. */
  | { type: 'container.sized'; name: string; size: ContainerSize }
  | { type: 'runtime.podObserved'; pod: ObservedPod }
  | { type: 'runtime.containerSeen'; container: ObservedContainer }
  | { type: 'runtime.returned' }
  /** The runtime's network has become ready or not ready. */
  | { type: 'runtime.networkChanged'; networkNotReady?: NetworkNotReady }
  | ErrorActorEvent
  | SlotGranted
  | TimerEvent;

/** Events from the actors that connect the node with its cluster. */
export type RegistrationReport =
  /** The Node object exists. `node.csiInitialized` follows once its CSINode exists as well. */
  | { type: 'node.registered'; uid: string }
  | { type: 'node.csiInitialized' }
  /** The API server is reachable again. */
  | { type: 'node.leaseRegained' };

/** `node.registered` means that the Node exists. `node.changed` means that the node's status may have changed. */
export type NodeStatusEvent = { type: 'node.registered' } | { type: 'node.changed'; isReady: boolean } | TimerEvent;

/**
 * The runtime's message about why pods have no network, and the time at which the outage started (ms since the epoch).
 */
export interface NetworkNotReady {
  readonly message: string;
  readonly since: number;
}

export interface RuntimeHealth extends RuntimeReport {
  /** Time at which this state was entered, in milliseconds since the epoch. */
  readonly since: number;
  readonly ready: boolean;
  readonly message?: string;
  readonly name: string;
  readonly version: string;
  /** Whether the runtime supports `supplementalGroupsPolicy: Strict`. */
  readonly strictGroups?: boolean;
}

/** A problem or warning about a manifest. `path` is the path of the field, or empty for the whole file. */
export interface SourceProblem {
  readonly file: string;
  readonly path: string;
  readonly message: string;
  /** `NAMESPACE/NAME` of the pod. Undefined if unknown. */
  readonly pod?: string;
  /** The pod's UID on the API server. Undefined for pods from other sources. */
  readonly uid?: string;
  /** Condition under which the manifest will be used. Undefined if it is in use. */
  readonly until?: string;
}

/** Problems of manifests that are not used, and warnings about those in use. */
export interface ManifestFindings {
  readonly problems?: readonly SourceProblem[];
  readonly warnings?: readonly SourceProblem[];
}

/** A change to a pod that its source reports. */
export type PodChange = { change: 'added' | 'updated'; pod: Pod } | { change: 'removed'; uid: string };
type PodList = { pods: readonly Pod[]; isPartial?: boolean };

/**
 * A pod has a new status. Only the latest version is sent to sinks. `mayWait` marks a change to which no other
 * component reacts, and `isFirst` marks the first status of a pod.
 */
type StatusFact = {
  type: 'status.changed';
  uid: string;
  version: number;
  mayWait?: boolean;
  isFirst?: boolean;
};

/** Events that the machine of a status sink receives. */
export type StatusSinkEvent = StatusFact | TimerEvent;

export type FeedName =
  | 'runtimeHealth'
  | 'pleg'
  | 'sources'
  | 'addresses'
  | 'ticker'
  | 'watches'
  | 'podCidr'
  | 'oomWatcher'
  | 'drivers'
  | 'memory'
  | 'shutdownSignals'
  | 'shutdownLock'
  | 'devicePlugins';

/** Facts from the feeds. They are plain data, with a timestamp (ms since the epoch) if a decision needs it. */
export type NodeFact =
  | StatusFact
  | ClusterFact
  /**
   * All pods of a source, sent initially and whenever changes could not be tracked. `isPartial` means that some of them
   * could not be read.
   */
  | ({ type: 'config.podsListed'; source: string; at: number } & PodList & ManifestFindings)
  /** A change to one pod of a source that has already listed its pods. */
  | ({ type: 'config.podChanged'; source: string; at: number } & PodChange)
  /** The current problems of one pod in a file or, if `pod` is undefined, of the rest of the file. */
  | ({ type: 'config.problemsChanged'; source: string; file: string; pod?: string } & ManifestFindings)
  | { type: 'config.sourceChanged'; source: string; state: SourceState }
  /** All mirror pods on the API server. */
  | { type: 'config.mirrorsChanged'; mirrors: readonly ObservedMirror[] }
  /** A source that has not listed its pods yet cannot currently be read. */
  | { type: 'config.sourceUnread'; source: string; problems: readonly SourceProblem[] }
  /**
   * The pods that have changed in the runtime since the last event, each with all of its objects. The first event
   * contains all pods.
   */
  | { type: 'runtime.podsObserved'; pods: readonly ObservedPod[]; at: number }
  /** The status of one container, read immediately after an event of the runtime. */
  | { type: 'runtime.containerSeen'; container: ObservedContainer }
  | { type: 'runtime.healthChanged'; health: RuntimeHealth }
  | { type: 'runtime.plegChanged'; pleg: PlegState }
  /** The runtime has accepted the node's pod CIDRs, or has refused them for a different reason than before. */
  | { type: 'runtime.podCidrChanged'; podCidr: PodCidrState }
  /**
   * Properties of the node have changed. Undefined properties have not changed. `allocatable` contains the resources
   * that pods may use.
   */
  | {
      type: 'node.factsChanged';
      hostIps?: readonly string[];
      capacity?: Capacity;
      allocatable?: Capacity;
      conditions?: readonly NodeCondition[];
      admissionNode?: Partial<Pick<AdmissionNode, 'labels' | 'taints'>>;
      at: number;
    }
  /** The OOM killer has killed a process, either in a container or because the whole system was out of memory. */
  | { type: 'node.oomKilled'; kill: OomKill }
  /**
   * The kernel log has become readable, or is unreadable for a different reason than before. While it is unreadable,
   * OOM kills are not detected.
   */
  | { type: 'node.oomWatchChanged'; failure?: Failure; at: number }
  | MemoryFact
  | LogindFact
  | DeviceFact
  | ClaimsFact
  | { type: 'node.ticked'; at: number }
  /** A feed has stopped unexpectedly. `failure` is undefined if the feed has returned without an error. */
  | { type: 'feed.ended'; feed: FeedName; failure?: Failure; at: number }
  /** Terminates every pod within its own grace period, and then stops the node. */
  | { type: 'node.drain'; at: number };

export type NodeEvent =
  | NodeFact
  | GarbageReport
  | LogsReport
  | EvictionReport
  | ShutdownReport
  | TerminationReport
  | ImageGarbageReport
  | CpusReport
  | DeviceCountReport
  | DeviceStatusReport
  | ClaimsReport
  | RegistrationReport
  | AdmissionFact
  | TimerEvent
  | DoneActorEvent
  | ErrorActorEvent;
