/** Defines the context of the node agent and pure functions on it. The chart is in chart.ts. */

import type { Failure } from '../../base/failure.ts';
import { lookUp } from '../../base/values/lookUp.ts';
import { withEntries, withoutEntry } from '../../base/values/withEntries.ts';
import { type AdmissionNode, nodeLabels } from '../../kubernetes/admission/node.ts';
import { safeSysctls } from '../../kubernetes/admission/sysctls.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import type { PodStatus } from '../../kubernetes/api/schema/status.ts';
import type { ClaimState } from '../../kubernetes/claims/claimState.ts';
import type { CpuAssignments } from '../../kubernetes/cpus/cpuPolicy.ts';
import type { TopologyManager } from '../../kubernetes/cpus/topologyHints.ts';
import type { DeviceCount } from '../../kubernetes/devices/devices.ts';
import type { DevicePool } from '../../kubernetes/devices/reserveDevices.ts';
import type { ImageGarbagePolicy } from '../../kubernetes/images/imageGarbage.ts';
import type { BackOff } from '../../kubernetes/lifecycle/backoff.ts';
import {
  type DeadContainer,
  deadContainers,
  defaultGarbagePolicy,
  emptySandboxes,
  type GarbagePolicy,
  unusedContainers,
} from '../../kubernetes/lifecycle/garbage.ts';
import {
  type ContainerRun,
  containerRunOf,
  type ForeignPod,
  type LeftoverPod,
  type ObservedPod,
  type PodIdentity,
  separateForeignSandboxes,
} from '../../kubernetes/lifecycle/observed.ts';
import type { NodeCondition } from '../../kubernetes/node/nodeConditions.ts';
import type { Allocation } from '../../kubernetes/resources/allocation.ts';
import type { Capacity } from '../../kubernetes/resources/requests.ts';
import type { ContainerEnds } from '../../kubernetes/status/view.ts';
import type { CpuAllocation, MemoryAllocation } from '../admission/context.ts';
import type { CertificateInput } from '../certificate/chart.ts';
import type { ProbeResults } from '../container/context.ts';
import type { EvictionInput } from '../eviction/context.ts';
import type { MirrorRecords } from '../mirror/mirrorRecords.ts';
import type { FeedName, NetworkNotReady, NodeEvent, RuntimeHealth, SourceProblem } from '../shared/events/events.ts';
import type { NodeGarbage } from '../shared/events/upkeepEvents.ts';
import type { ShutdownInput } from '../shutdown/context.ts';
import type { StatusSinkInput } from '../statusSink/chart.ts';
import type { ClusterAccess, ClusterState } from './cluster/cluster.ts';
import type { SourceState } from './pods/source.ts';
import { nextOomWatch, type OomWatch } from './runtime/oomWatch.ts';
import type { PlegState } from './runtime/pleg.ts';
import type { PodCidrState } from './runtime/podCidr.ts';
import type { PendingProcessKill } from './runtime/processKills.ts';

/** Settings of a node that belongs to a cluster. */
export interface ClusterInput {
  /** Duration of the node's lease, in milliseconds. */
  readonly leaseMs: number;
  /** Interval between two checks of the node status, in milliseconds. */
  readonly statusCheckMs: number;
  readonly access?: ClusterAccess;
  /** Certificates that the node manages itself. Undefined if there are none. */
  readonly certificates?: readonly Omit<CertificateInput, 'nodeName'>[];
}

export interface CpuManagerInput extends Pick<CpuAllocation, 'cpuPolicy'> {
  readonly assignments: CpuAssignments;
  /** Interval between two checks of running containers, in milliseconds. */
  readonly reconcileMs: number;
}

export type MemoryInput = Pick<MemoryAllocation, 'memoryPolicy' | 'assignments'>;

export interface NodeInput {
  readonly nodeName: string;
  /**
   * The mark by which this agent recognizes its sandboxes. It consists of the root directory and the node name of the
   * agent.
   */
  readonly owner: string;
  /** The sources that must have listed their pods before any pod is started or stopped. */
  readonly sources: readonly string[];
  /** The node's addresses, the primary one first. */
  readonly hostIps: readonly string[];
  /** Resources of the whole node. */
  readonly capacity: Capacity;
  /** Resources available to pods. */
  readonly allocatable: Capacity;
  /** All conditions except Ready, which depends on the runtime. Undefined if none are known. */
  readonly conditions?: readonly NodeCondition[];
  /** Node properties that admission checks. Defaults are those of a plain Linux node. */
  readonly admissionNode?: Partial<Omit<AdmissionNode, 'name' | 'strictGroups' | 'pressure' | 'isShuttingDown'>>;
  /** Undefined if the topology policy is `none`. */
  readonly topologyManager?: TopologyManager;
  /** The CPU manager's policy and persisted assignments. Undefined unless the policy is static. */
  readonly cpus?: CpuManagerInput;
  /** The memory manager's policy and persisted assignments. Undefined unless the policy is Static. */
  readonly memory?: MemoryInput;
  /**
   * The device resources and allocations that the previous run of the agent persisted. Undefined if the node has no
   * device plugins.
   */
  readonly devices?: DevicePool;
  readonly startSlots: number;
  readonly pullSlots: number;
  /** Time limit of one pull, in milliseconds. Undefined if there is none. */
  readonly pullLimitMs?: number;
  /**
   * Time in milliseconds for which pulls may occupy all slots before pulls from other registries get additional slots.
   * Undefined if unlimited.
   */
  readonly slowPullMs?: number;
  readonly crashLoop: BackOff;
  /** Whether Burstable pods get a share of the node's swap. */
  readonly limitedSwap?: boolean;
  /** Whether the node reports OOM kills of processes whose container continues to run. */
  readonly reportsProcessOomKills?: boolean;
  /** Whether the statuses of containers contain the health of their devices. Defaults to true. */
  readonly reportsDeviceHealth?: boolean;
  /** Descriptions, for display, of the daemon cgroups whose limits the node enforces. Undefined if there are none. */
  readonly reservedCgroups?: readonly string[];
  /** Terminal statuses that pods had reached before a restart of the agent, by UID. */
  readonly statuses: Readonly<Record<string, PodStatus>>;
  /** Allocations from before a restart of the agent, or from before a pod's actor failed, by UID of the pod. */
  readonly allocations: Readonly<Record<string, Allocation>>;
  /** Probe results of running containers from before a restart of the agent, by UID of the pod. */
  readonly probed?: Readonly<Record<string, readonly ProbeResults[]>>;
  /**
   * Terminated container statuses that were reported before a restart of the agent, by UID of the pod. Contains only
   * pods that are unknown to an API server.
   */
  readonly containerEnds?: Readonly<Record<string, ContainerEnds>>;
  /** Maximum numbers of dead containers to retain. Undefined for the kubelet's default. */
  readonly garbage?: GarbagePolicy;
  /** Policy for the removal of unused images. Undefined for the kubelet's defaults. */
  readonly imageGarbage?: ImageGarbagePolicy;
  /** Interval between two checks of log sizes, in milliseconds. Undefined for the kubelet's default. */
  readonly logCheckMs?: number;
  /** Pods whose files an earlier run of the agent left on disk. */
  readonly left: readonly LeftoverPod[];
  /**
   * UIDs of the pods that have logs from before the start of this agent. Undefined if there are none, `unknown` if any
   * pod may have logs.
   */
  readonly logged?: readonly string[] | 'unknown';
  /** Settings of the node's cluster. Undefined if the node does not belong to a cluster. */
  readonly cluster?: ClusterInput;
  /**
   * Status sinks, with the statuses that each had not acknowledged before a restart of the agent. Undefined if there
   * are none.
   */
  readonly sinks?: readonly StatusSinkInput[];
  /**
   * Whether the agent runs only to stop every pod. In that case no pod is treated as an orphan, so that each pod gets
   * its own grace period.
   */
  readonly endsAll?: boolean;
  /** Pods of other agents that have a directory below this agent's root directory. */
  readonly foreign?: readonly ForeignPod[];
  /** Settings for the eviction of pods. Undefined if the node evicts none. */
  readonly eviction?: Omit<EvictionInput, 'nodeName'>;
  /** Settings for graceful node shutdown. Undefined if the node does not delay shutdowns. */
  readonly shutdown?: Omit<ShutdownInput, 'nodeName'>;
}

export interface NodeContext
  extends Omit<
      NodeInput,
      'startSlots' | 'pullSlots' | 'pullLimitMs' | 'slowPullMs' | 'sinks' | 'cpus' | 'memory' | 'devices'
    >,
    ClusterState {
  /** The devices of the node by resource. Undefined if the node has no device plugins. */
  readonly deviceCounts?: readonly DeviceCount[];
  /** Names of the status sinks. */
  readonly sinks: readonly string[];
  readonly mirrors: MirrorRecords;
  /** The desired pods of each source, by UID. Contains only sources that have listed their pods. */
  readonly desired: Readonly<Record<string, Readonly<Record<string, Pod>>>>;
  readonly sourceStates: Readonly<Record<string, SourceState>>;
  /** Reasons why manifests are ignored, by source. */
  readonly problems: Readonly<Record<string, readonly SourceProblem[]>>;
  readonly warnings: Readonly<Record<string, readonly SourceProblem[]>>;
  /** Sources that could not be read and have not listed their pods yet. */
  readonly unreadSources: readonly string[];
  /** The runtime's pods, by UID. Undefined until they have been listed once. */
  readonly observed?: Readonly<Record<string, ObservedPod>>;
  /**
   * UIDs of the pods taken over from another agent. All of their sandboxes are treated as this agent's, regardless of
   * their owner mark.
   */
  readonly takenOverUids: readonly string[];
  /**
   * The pods with an actor, by UID, in the version last sent to the actor. `isTerminating` is set once the actor has
   * received the command to terminate.
   */
  readonly pods: Readonly<Record<string, { readonly pod: Pod; readonly isTerminating: boolean }>>;
  readonly health: RuntimeHealth;
  readonly pleg: PlegState;
  /** Whether the runtime has accepted the node's pod CIDRs. Undefined if the node has none. */
  readonly podCidr?: PodCidrState;
  /** OOM kills for which it is not yet known whether the container of the killed process continues to run. */
  readonly processKills: readonly PendingProcessKill[];
  /** The claims that are, or are about to be, prepared on the node. */
  readonly claims: readonly ClaimState[];
  /** State of OOM kill detection. Undefined if the node does not detect OOM kills. */
  readonly oomWatch?: OomWatch;
  /**
   * Whether the node is ready, ignoring draining, and since when. `since` is undefined if the readiness has not changed
   * since the agent started.
   */
  readonly readiness: { readonly isReady: boolean; readonly since?: number };
  /** Failures of stopped feeds that the node can do without. */
  readonly brokenFeeds: Readonly<Partial<Record<FeedName, Failure>>>;
  /** Time of the latest fact that the node received, in milliseconds since the epoch. */
  readonly lastFactAt: number;
  /** Pods whose actors failed during termination. They are terminated again at the next tick. */
  readonly brokenPods: readonly Pod[];
  /** Number of pods that have arrived since the agent started. */
  readonly arrivalCount: number;
  /** Whether the host is about to shut down. */
  readonly isShuttingDown: boolean;
  /** Start time of the drain in milliseconds since the epoch, or 0 if the node is not draining. */
  readonly drainStartedAt: number;
  /** UIDs of the pods that have terminated since the drain started. */
  readonly drainedUids: readonly string[];
  /** Reason why the node agent cannot continue. */
  readonly failure?: Failure;
}

/** Properties of the node that can change while the agent runs. */
export type ChangeableFacts = Required<
  Pick<NodeContext, 'hostIps' | 'capacity' | 'allocatable' | 'conditions' | 'admissionNode'>
>;

export const changeableFacts = (context: NodeContext): ChangeableFacts => {
  const { hostIps, conditions = [], admissionNode = {} } = context;
  return { hostIps, ...nodeResources(context), conditions, admissionNode };
};

/** Returns the resources of the node, including the devices of its plugins. */
export const nodeResources = ({
  capacity,
  allocatable,
  deviceCounts = [],
}: Pick<NodeContext, 'capacity' | 'allocatable' | 'deviceCounts'>): Pick<NodeContext, 'capacity' | 'allocatable'> => ({
  capacity: withDeviceCounts(capacity, deviceCounts, 'capacity'),
  allocatable: withDeviceCounts(allocatable, deviceCounts, 'allocatable'),
});

function withDeviceCounts(
  resources: Capacity,
  counts: readonly DeviceCount[],
  kind: 'capacity' | 'allocatable',
): Capacity {
  if (counts.length === 0) return resources;
  const deviceAmounts = Object.fromEntries(counts.map((count) => [count.resource, count[kind]] as const));
  return { ...resources, extra: { ...resources.extra, ...deviceAmounts } };
}

export const emptyObservedPod = ({ uid, namespace, name }: PodIdentity): ObservedPod => ({
  uid,
  namespace,
  name,
  sandboxes: [],
  containers: [],
});

export const observedPodOf = (context: NodeContext, pod: Pod): ObservedPod =>
  lookUp(context.observed, pod.metadata.uid) ?? emptyObservedPod(pod.metadata);

/** Returns the state of the runtime's network in the form that is sent to pods. */
export const networkOf = ({ networkNotReady: message, since }: RuntimeHealth): { networkNotReady?: NetworkNotReady } =>
  message === undefined ? {} : { networkNotReady: { message, since } };

/**
 * Returns the dead containers and old sandboxes of pods that are not terminating, or none of them while the runtime is
 * not ready. Terminating pods remove their own objects.
 */
export function collectableGarbage(context: NodeContext): NodeGarbage {
  const { pods, garbage = defaultGarbagePolicy, foreign = [], lastFactAt } = context;
  const livePods = collectablePods(context);
  return {
    containers: deadContainers(livePods, garbage, lastFactAt),
    sandboxes: emptySandboxes(livePods),
    activePodUids: Object.keys(pods),
    foreign,
  };
}

/**
 * Returns the pods whose dead containers and old sandboxes the node may remove. Returns no pods while the runtime is
 * not ready.
 */
const collectablePods = ({ observed = {}, pods, health }: NodeContext): ObservedPod[] =>
  Object.values(observed).filter(({ uid }) => health.ready && lookUp(pods, uid)?.isTerminating === false);

/**
 * Returns the dead containers that may be removed if the node's disk is full, including all dead containers of
 * terminated pods.
 */
export function sparableContainers(context: NodeContext, endedUids: ReadonlySet<string>): DeadContainer[] {
  const { garbage = defaultGarbagePolicy, lastFactAt: now } = context;
  return unusedContainers(collectablePods(context), garbage, { now, terminatedUids: endedUids });
}

/** Returns the running containers of pods that have an actor. The logs of these containers are being written. */
export const runningContainers = ({ observed = {}, pods }: NodeContext): ContainerRun[] =>
  Object.values(observed).flatMap((pod) =>
    Object.hasOwn(pods, pod.uid)
      ? pod.containers.filter(({ state }) => state === 'running').map((each) => containerRunOf(pod, each))
      : [],
  );

const hasObjects = ({ sandboxes, containers, foreignSandboxes = [] }: ObservedPod): boolean =>
  sandboxes.length + containers.length + foreignSandboxes.length > 0;

/** Returns an observed pod without the sandboxes and containers that belong to other agents. */
export const withoutForeignObjects = ({ owner, takenOverUids }: NodeContext, pod: ObservedPod): ObservedPod =>
  takenOverUids.includes(pod.uid) ? pod : separateForeignSandboxes(pod, owner);

/** Returns the CPU allocation at the start of the agent, restored from the persisted assignments. */
export const initialCpuAllocation = ({ reconcileMs: _, ...managers }: CpuManagerInput): CpuAllocation => ({
  ...managers,
  revision: 0,
  reportedRevision: 0,
  unconfirmed: [],
});

/** Returns the memory allocation at the start of the agent, restored from the persisted assignments. */
export const initialMemoryAllocation = (managers: MemoryInput): MemoryAllocation => ({
  ...managers,
  revision: 0,
  reportedRevision: 0,
  unconfirmed: [],
});

/** Returns the node properties that admission checks, with defaults. */
export const admissionNode = ({
  nodeName: name,
  admissionNode: knownProperties,
}: Pick<NodeInput, 'nodeName' | 'admissionNode'>): AdmissionNode => ({
  name,
  labels: nodeLabels({ hostname: name, arch: 'amd64' }),
  taints: [],
  sysctls: safeSysctls(''),
  appArmor: false,
  strictGroups: false,
  pressure: [],
  isShuttingDown: false,
  ...knownProperties,
});

/**
 * Updates the observed pods after the runtime's pods have been listed. Drops pods that have no object left in the
 * runtime.
 */
export function withObservedPods(
  context: NodeContext,
  pods: readonly ObservedPod[],
): Readonly<Record<string, ObservedPod>> {
  const ownPods = pods.map((observedPod) => withoutForeignObjects(context, observedPod));
  const presentPods = ownPods.filter(hasObjects).map((pod) => [pod.uid, pod] as const);
  const absentPods = ownPods.filter((pod) => !hasObjects(pod));
  return absentPods.reduce(
    (left, { uid }) => withoutEntry(left, uid),
    withEntries(context.observed ?? {}, presentPods),
  );
}

/** Drops the observations of a terminated pod, except for objects of another agent. */
export function withoutObservedPod({ observed: observedPods }: NodeContext, uid = ''): Pick<NodeContext, 'observed'> {
  if (observedPods === undefined) return {};
  const { [uid]: _, ...observed } = observedPods;
  const previousPod = lookUp(observedPods, uid);
  return {
    observed: previousPod?.foreignSandboxes
      ? { ...observed, [uid]: { ...emptyObservedPod(previousPod), foreignSandboxes: previousPod.foreignSandboxes } }
      : observed,
  };
}

/**
 * Drops the persisted facts about a pod that has been removed completely, because a later pod may have the same UID.
 */
export function withoutRestoredFacts(context: NodeContext, uid = ''): Partial<NodeContext> {
  const { statuses, allocations, probed = {}, containerEnds = {}, logged = [] } = context;
  const isRestored = [statuses, allocations, probed, containerEnds].some((restored) => Object.hasOwn(restored, uid));
  if (!isRestored && !mayHaveLogs(context, uid)) return {};
  const withoutPod = <T>({ [uid]: _, ...others }: Readonly<Record<string, T>>) => others;
  return {
    statuses: withoutPod(statuses),
    allocations: withoutPod(allocations),
    probed: withoutPod(probed),
    containerEnds: withoutPod(containerEnds),
    logged: logged === 'unknown' ? logged : logged.filter((each) => each !== uid),
  };
}

export const mayHaveLogs = ({ logged = [] }: Pick<NodeContext, 'logged'>, uid: string): boolean =>
  logged === 'unknown' || logged.includes(uid);

/** Updates the foreign pods after a survey of the disk. The survey reports only changes. */
function nextForeignPods(
  { foreign = [] }: NodeContext,
  { foreign: changed, removedUids }: Extract<NodeEvent, { type: 'garbage.podsFound' }>,
): readonly ForeignPod[] {
  if (changed.length + removedUids.length === 0) return foreign;
  const changedUids = new Set([...removedUids, ...changed.map(({ uid }) => uid)]);
  return [...foreign.filter(({ uid }) => !changedUids.has(uid)), ...changed];
}

/** Merges the pods with leftover files, one per UID. */
export function mergeLeftovers(
  knownLeftovers: readonly LeftoverPod[],
  newLeftovers: readonly LeftoverPod[],
): readonly LeftoverPod[] {
  return [...new Map([...knownLeftovers, ...newLeftovers].map((each) => [each.uid, each])).values()];
}

/** Returns the context changes that result from a fact about the node itself. */
export function factChanges(context: NodeContext, event: NodeEvent): Partial<NodeContext> {
  switch (event.type) {
    case 'node.ticked':
      return { lastFactAt: event.at };
    case 'node.drain':
      return { drainStartedAt: event.at };
    case 'node.factsChanged': {
      const { type: _, at: lastFactAt, admissionNode, ...changedFacts } = event;
      const mergedNode = admissionNode && { admissionNode: { ...context.admissionNode, ...admissionNode } };
      return { ...changedFacts, lastFactAt, ...mergedNode };
    }
    case 'runtime.plegChanged':
      return { pleg: event.pleg };
    case 'runtime.podCidrChanged':
      return { podCidr: event.podCidr };
    case 'node.oomKilled':
    case 'node.oomWatchChanged':
      return { oomWatch: nextOomWatch(context.oomWatch, event) };
    case 'feed.ended':
      return event.failure ? { brokenFeeds: { ...context.brokenFeeds, [event.feed]: event.failure } } : {};
    // Pods with leftover files get an actor that terminates them and removes the files.
    case 'garbage.podsFound':
      return { left: mergeLeftovers(context.left, event.left), foreign: nextForeignPods(context, event) };
    default:
      return {};
  }
}

/** Returns the UID of the pod whose actor an event is about, or undefined for other events. */
export function eventPodUid(event: object): string | undefined {
  const id = 'actorId' in event ? String(event.actorId) : '';
  return id.startsWith('pod/') ? id.slice('pod/'.length) : undefined;
}
