/**
 * The events that pass between the actors, named `source.fact`. Commands go from parent to child, and to those that serve
 * all pods: the limiters and admission, which answer whoever asked.
 */

import type { ActorRef, DoneActorEvent, ErrorActorEvent, Snapshot } from 'xstate';
import type { Failure } from '../../base/failure.ts';
import type { AdmissionNode } from '../../kubernetes/admission/node.ts';
import type { Refusal } from '../../kubernetes/admission/refusal.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import type { PodCondition } from '../../kubernetes/api/schema/status.ts';
import type { ObservedContainer, ObservedPod, ObservedSandbox } from '../../kubernetes/lifecycle/observed.ts';
import type { ObservedMirror } from '../../kubernetes/mirror.ts';
import type { MountedVolume, MountedVolumes } from '../../kubernetes/mountedVolume.ts';
import type { NodeCondition } from '../../kubernetes/node/nodeConditions.ts';
import type { RuntimeReport } from '../../kubernetes/node/runtimeReport.ts';
import type { ContainerSize } from '../../kubernetes/resources/containerSize.ts';
import type { Capacity, PodRequests, PodResourceRequests } from '../../kubernetes/resources/requests.ts';
import type { ProbeKind, Termination } from '../../kubernetes/status/view.ts';
import type { PlegState } from '../node/pleg.ts';
import type { PodCidrState } from '../node/podCidr.ts';
import type { SourceState } from '../node/source.ts';
import type { ClusterFact } from './clusterFacts.ts';
import type { ActorPath, SlotGranted, TimerEvent } from './slots.ts';
import type { GarbageReport, LogsReport } from './upkeepEvents.ts';
import type { WaitingReason } from './waitingReason.ts';

/** An actor known only by the events that it takes; it keeps the types of parent and child from needing each other. */
export type Ref<E extends { type: string }> = ActorRef<Snapshot<unknown>, E>;

export type AdmissionAnswer = { type: 'admission.admitted' } | ({ type: 'admission.refused' } & Refusal);

export type AdmissionEvent =
  /** Asks for admission; `adopted` when the runtime already runs it: such a pod is never refused. */
  | {
      type: 'admission.request';
      uid: string;
      fullName: string;
      pod: Pod;
      requests: PodRequests;
      /** The resources that were admitted before a restart of the agent. */
      allocated?: PodResourceRequests;
      adopted: boolean;
      /** Nothing of the pod is to run any more: what it holds is about to be released. */
      isOver?: boolean;
      holder: ActorPath;
    }
  /** A pod that only has to end and asks for nothing; `requests` are null when it runs no more. */
  | { type: 'admission.addEnding'; uid: string; fullName: string; requests: PodRequests | null }
  /** No source wants the pod any more: other pods wait for its resources instead of being refused (C9). */
  | { type: 'admission.leave'; uid: string }
  /** The containers of the pod have stopped: only its host ports are taken until its sandbox has stopped (C9). */
  | { type: 'admission.containersStopped'; uid: string }
  /** The pod has stopped: its resources are free, but its full name is taken until the pod is released (C24). */
  | { type: 'admission.settle'; uid: string }
  /** Nothing of it is left. */
  | { type: 'admission.release'; uid: string }
  /** The node is another now: what waits is decided again, and so are refused updates. What is absent is as it was. */
  | { type: 'admission.nodeChanged'; capacity?: Capacity; node?: Partial<Omit<AdmissionNode, 'name'>> };

/** What admission tells the node: these pods must end for a critical one, which waits (C24). */
export type AdmissionFact = { type: 'admission.preempting'; uids: readonly string[]; resource: string };

/** What an image tells who needs it: whether it is held up, and the last failure of a look or a pull. */
export interface ImageFact {
  readonly type: 'image.changed';
  readonly isDelayed: boolean;
  /** The wait after that failure, in milliseconds. */
  readonly delayMs: number;
  readonly failure: Failure | undefined;
  readonly waitingReason: WaitingReason | undefined;
}

export type ImageEvent =
  /** The pod was updated in place. */
  | { type: 'image.update'; pod: Pod }
  /** The runtime answers again: what failed because it was away need not wait longer. */
  | { type: 'runtime.returned' }
  | SlotGranted
  | TimerEvent;

/** Where a volume stands, as its pod needs to know it; `delayed` is one whose image cannot be had for now. */
export type VolumeLifecycle = 'pending' | 'delayed' | 'mounted' | 'unmounted';

export type VolumeEvent =
  | { type: 'volume.unmount' }
  /** The pod was updated: what is not mounted yet may be defined otherwise, what shows its pod has to be refreshed. */
  | { type: 'volume.update'; pod: Pod }
  /** What its pod gets of the cluster has changed: what of that it shows has to be looked at again. */
  | { type: 'volume.objectsChanged' }
  /** The runtime answers again: what failed because it was away need not wait longer. */
  | { type: 'runtime.returned' }
  | ImageFact
  | TimerEvent;

/**
 * Where a container stands, as its pod needs to know it: `pending` waits for its turn, `coming` is on its way to a start,
 * `readyToCreate` could be launched, `delayed` is put off by a failure. `launching` is being made and started, its postStart hook
 * included; `live` may have a process; `running` has one that got past its hook. The others have none and will get none
 * by themselves, and of one that is `removed` the runtime has nothing any more. The end of one that `restartsAll`
 * restarts its whole pod in place.
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

/** A probe of the container with this id has come to another result, by its thresholds; `at` is when, `said` what it said last. */
export type ProbeFact =
  | { type: 'probe.succeeded'; kind: ProbeKind; id: string; at: number }
  | { type: 'probe.failed'; kind: ProbeKind; id: string; at: number; said: string };

export type ContainerEvent =
  /** Its turn has come; the sandbox follows by `sandbox.ready`. An init container that is done runs again. */
  | { type: 'container.start' }
  /** It may be made and started: no other container of its pod is being launched. */
  | { type: 'container.launch' }
  /**
   * It must end and stay so: by the deadline (ms since the epoch; it only ever moves nearer, C10), or within the pod's
   * own grace when there is none. With `waits` its process is left until others have stopped (C11) or the deadline has
   * passed; with `leavesNothing` the runtime keeps nothing of it, for its pod goes on without it.
   */
  | { type: 'container.stop'; deadline?: number; graceSeconds?: number; waits?: boolean; leavesNothing?: boolean }
  /** All containers of its pod restart in place: what runs of it ends at once, then it waits for its turn again. */
  | { type: 'container.reset' }
  /** The pod was updated in place; a changed name or image makes it a new container (C6). */
  | { type: 'container.update'; pod: Pod; volumes: MountedVolumes }
  /** What its pod gets of the cluster has changed: what it lacked may be there. */
  | { type: 'container.objectsChanged' }
  | { type: 'sandbox.ready'; sandbox: ObservedSandbox }
  /** `still` is the sandbox as it is, when it lives on and only its pod cannot stay in it: hooks run in it as ever. */
  | { type: 'sandbox.lost'; still?: ObservedSandbox }
  /** What the runtime shows of the container now; null when it does not list it any more. */
  | { type: 'runtime.containerObserved'; id: string; container: ObservedContainer | null }
  /** The runtime answers again: what failed because it was away need not wait longer. */
  | { type: 'runtime.returned' }
  | ProbeFact
  | ImageFact
  | SlotGranted
  | TimerEvent;

export type PodEvent =
  | AdmissionAnswer
  /** Its source wants it otherwise: admission decides whether it becomes so. */
  | { type: 'pod.update'; pod: Pod }
  /** Only what others read of it, and what it may show of itself, is another. */
  | { type: 'pod.metadataChanged'; metadata: Pod['metadata'] }
  /** What others than the node say of it has changed: its conditions as its source has them, if it has any. */
  | { type: 'pod.conditionsChanged'; conditions: readonly PodCondition[] | undefined }
  /** A source wants the pod again while it ends. It starts over afterwards, and the counts of its restarts continue (C24). */
  | { type: 'pod.rewanted' }
  /** What it gets of the cluster, its ConfigMaps and Secrets, has changed. */
  | { type: 'pod.objectsChanged' }
  | { type: 'pod.terminate'; termination: Termination }
  /** A ConfigMap or a Secret that it names is another than it was, or is there now. */
  | { type: 'pod.objectsChanged' }
  | { type: 'volume.changed'; name: string; lifecycle: VolumeLifecycle; mounted?: MountedVolume }
  /** `id` is that of its container at the runtime, if it has one; `endedAt` tells when the last run ended, if one did. */
  | { type: 'container.changed'; name: string; lifecycle: ContainerLifecycle; id?: string; endedAt?: number }
  /** The runtime has not found a container, or what it was to be made from: its sandbox may be gone. */
  | { type: 'container.notFound' }
  /** The rest of the node has had its turn since the last batch of commands to the containers. */
  | { type: 'pod.batchDue' }
  /** It was active for as long as it may be, until `deadline`; its end begins `at` (both in ms since the epoch). */
  | { type: 'pod.deadlineExceeded'; deadline: number; at: number }
  /** It was to have ended by `deadline` (ms since the epoch), because the node ends it for its own reasons. */
  | { type: 'pod.killLimitExceeded'; deadline: number }
  /** The size that a container at the runtime has: told when it runs, and whenever it has another. */
  | { type: 'container.sized'; name: string; size: ContainerSize }
  | { type: 'runtime.podObserved'; pod: ObservedPod }
  | { type: 'runtime.containerSeen'; container: ObservedContainer }
  | { type: 'runtime.returned' }
  /** The runtime's network has come or gone; sent only when that changes. */
  | { type: 'runtime.networkChanged'; networkNotReady?: NetworkNotReady }
  | ErrorActorEvent
  | SlotGranted
  | TimerEvent;

/** What the node's parts in its cluster tell it. */
export type RegistrationReport =
  /** Its Node object is there, and then what storage drivers register in. */
  | { type: 'node.registered'; uid: string }
  | { type: 'node.csiInitialized' }
  /** The API server answers again. */
  | { type: 'node.leaseRegained' };

/** What the node's status hears: that there is a Node to write it to, and that it is another than it was. */
export type NodeStatusEvent = { type: 'node.registered' } | { type: 'node.changed'; isReady: boolean } | TimerEvent;

/** Why the runtime has no network for pods, in its words, and since when (ms since the epoch). */
export interface NetworkNotReady {
  readonly message: string;
  readonly since: number;
}

export interface RuntimeHealth extends RuntimeReport {
  /** Since when it is so, in milliseconds since the epoch. */
  readonly since: number;
  readonly ready: boolean;
  readonly message?: string;
  readonly name: string;
  readonly version: string;
  /** Whether it can keep a container out of the groups that its image would give it (`supplementalGroupsPolicy`). */
  readonly strictGroups?: boolean;
}

/** What is wrong or odd in what a source reads; the path is a field's, empty for the whole file. */
export interface SourceProblem {
  readonly file: string;
  readonly path: string;
  readonly message: string;
  /** `NAMESPACE/NAME` of the pod that it is about, as the node calls it; absent where that cannot be told. */
  readonly pod?: string;
  /** The UID of that pod at its API server, which wants it, whatever it says of it; absent of other sources. */
  readonly uid?: string;
  /** What has to happen before the manifest is used; absent where it is in use. */
  readonly until?: string;
}

/** Why manifests are not used, and what is odd in those that are. */
export interface ManifestFindings {
  readonly problems?: readonly SourceProblem[];
  readonly warnings?: readonly SourceProblem[];
}

/** What has become of a pod at its source. */
export type PodChange = { change: 'added' | 'updated'; pod: Pod } | { change: 'removed'; uid: string };
type PodList = { pods: readonly Pod[]; isPartial?: boolean };

/**
 * A pod has another status: only the latest version of it is sent to sinks. `mayWait`: nobody acts on what has changed.
 * `isFirst`: nobody has been told anything of the pod yet.
 */
type StatusFact = {
  type: 'status.changed';
  uid: string;
  version: number;
  mayWait?: boolean;
  isFirst?: boolean;
};

/** The events of the machine that sends statuses to a sink. */
export type StatusSinkEvent = StatusFact | TimerEvent;

/** What brings facts in. */
export type FeedName = 'runtimeHealth' | 'pleg' | 'sources' | 'addresses' | 'ticker' | 'watches' | 'podCidr';

/** Facts that the feeds bring in: plain data, stamped with the time (ms since the epoch) where a decision needs it. */
export type NodeFact =
  | StatusFact
  | ClusterFact
  /** All that a source has: at first, and when it could not follow the changes. `isPartial`: all that can be read of it. */
  | ({ type: 'config.podsListed'; source: string; at: number } & PodList & ManifestFindings)
  /** One pod of a source that has told its full set. */
  | ({ type: 'config.podChanged'; source: string; at: number } & PodChange)
  /** What is found now of one pod in one file of a source; without a pod, what is found of none. */
  | ({ type: 'config.problemsChanged'; source: string; file: string; pod?: string } & ManifestFindings)
  /** A source gets on otherwise than it said before. */
  | { type: 'config.sourceChanged'; source: string; state: SourceState }
  /** The mirrors of static pods that the API server has, all of them. */
  | { type: 'config.mirrorsChanged'; mirrors: readonly ObservedMirror[] }
  /** A source that has told no set yet can not be read now. */
  | { type: 'config.sourceUnread'; source: string; problems: readonly SourceProblem[] }
  /** What changed at the runtime since the last time, all there is of each such pod; the first one is complete. */
  | { type: 'runtime.podsObserved'; pods: readonly ObservedPod[]; at: number }
  /** One container's status, read at once because the runtime told of an event. */
  | { type: 'runtime.containerSeen'; container: ObservedContainer }
  | { type: 'runtime.healthChanged'; health: RuntimeHealth }
  /** How changes at the runtime are learned of has changed, or why that fails. */
  | { type: 'runtime.plegChanged'; pleg: PlegState }
  /** The runtime has taken the addresses of pods, or refuses them for a new reason. */
  | { type: 'runtime.podCidrChanged'; podCidr: PodCidrState }
  /** What is another now of the node, all of it; what is absent is as it was. `allocatable` is what pods may take. */
  | {
      type: 'node.factsChanged';
      hostIps?: readonly string[];
      capacity?: Capacity;
      allocatable?: Capacity;
      conditions?: readonly NodeCondition[];
      admissionNode?: Partial<Pick<AdmissionNode, 'labels' | 'taints'>>;
      at: number;
    }
  | { type: 'node.ticked'; at: number }
  /** A feed tells no more, although nobody has stopped it; without a failure it has just returned. */
  | { type: 'feed.ended'; feed: FeedName; failure?: Failure; at: number }
  /** Ends every pod, each within its own grace, then the node itself. */
  | { type: 'node.drain'; at: number };

export type NodeEvent =
  | NodeFact
  | GarbageReport
  | LogsReport
  | RegistrationReport
  | AdmissionFact
  | TimerEvent
  | DoneActorEvent
  | ErrorActorEvent;
