/** Defines the context of the admission machine and selects its next step. The chart is in chart.ts. */
import { type Decision, decideAdmission, decideUpdate, type NodeUsage } from '../../kubernetes/admission/decide.ts';
import type { AdmissionNode } from '../../kubernetes/admission/node.ts';
import { isPreemptable, type Occupant } from '../../kubernetes/admission/preemption.ts';
import type { Container } from '../../kubernetes/api/schema/container.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import {
  allocatePod,
  numaNodesOfAdmitted,
  type PodAllocation,
  type ResourceAssignments,
  type ResourceManagers,
} from '../../kubernetes/cpus/allocatePod.ts';
import { type CpuAssignments, type CpuPolicy, releaseCpus } from '../../kubernetes/cpus/cpuPolicy.ts';
import type { TopologyManager } from '../../kubernetes/cpus/topologyHints.ts';
import {
  capacityForPod,
  deviceRefusal,
  PodDeviceAllocator,
  type PodReservation,
  releaseDevices,
  reserveAgain,
  reserveDevices,
} from '../../kubernetes/devices/reserveDevices.ts';
import type { MemoryAssignments, MemoryPolicy } from '../../kubernetes/numaMemory/memoryAssignments.ts';
import { releaseMemory } from '../../kubernetes/numaMemory/memoryPolicy.ts';
import { type Capacity, type PodRequests, resourceConflict } from '../../kubernetes/resources/requests.ts';
import { infeasibleRefusal, type ResizableResource, toPendingRefusal } from '../../kubernetes/resources/resize.ts';
import type { ActorPath } from '../shared/events/slots.ts';
import { type DeviceBook, deviceWait, withoutDevices, withPendingDevices } from './devices.ts';
import { findByName, findByUid, withItem, withoutItem } from './indexed.ts';

export interface AdmissionInput {
  readonly capacity: Capacity;
  readonly node: AdmissionNode;
  /**
   * Whether the node belongs to a cluster. In a cluster, other clients can change the node's labels, so the labels that
   * the node has observed may be outdated. The API server can then be queried for the current ones.
   */
  readonly hasCluster?: boolean;
  /** Undefined if the topology policy is `none`. */
  readonly topologyManager?: TopologyManager;
  /** Undefined if the node does not assign exclusive CPUs. */
  readonly cpus?: CpuAllocation | undefined;
  /** Undefined if the node does not assign memory on specific NUMA nodes to containers. */
  readonly memory?: MemoryAllocation | undefined;
  /** Undefined if the node has no device plugins. */
  readonly devices?: DeviceBook;
}

/** The exclusive CPUs of containers, and the policy by which they are assigned. */
export interface CpuAllocation extends DurableAssignments<CpuAssignments> {
  readonly cpuPolicy: CpuPolicy;
}

/** The memory on each NUMA node that is assigned to containers, and the policy by which it is assigned. */
export interface MemoryAllocation extends DurableAssignments<MemoryAssignments> {
  readonly memoryPolicy: MemoryPolicy;
}

/** Resources that are assigned to containers. Pods are admitted once the assignments are on disk. */
interface DurableAssignments<Assignments> {
  readonly assignments: Assignments;
  /** Revision number of the assignments, which increases with each change. */
  readonly revision: number;
  /** Revision number of the assignments that were last sent to the resource's manager for saving. */
  readonly reportedRevision: number;
  /** Admitted pods whose actors are not notified until the assignments with the given `revision` are durable. */
  readonly unconfirmed: readonly UnconfirmedPod[];
}

interface UnconfirmedPod {
  readonly uid: string;
  /** The admitted version of the pod. */
  readonly pod: Pod;
  readonly holder: ActorPath;
  readonly revision: number;
}

export interface AdmissionEntry {
  readonly uid: string;
  readonly fullName: string;
  /** Null if the pod is leaving, because no source contains it any longer or none of its containers will run again. */
  readonly desired: PodRequests | null;
  readonly allocated: PodRequests | null;
  /**
   * The resources that the pod occupies while it is being resized, i.e. the larger of the former and the admitted ones.
   * Undefined if no resize is in progress.
   */
  readonly occupied?: PodRequests | undefined;
  /**
   * Whether the pod's full name is reserved, which is the case from the pod's admission until its complete removal.
   * During this time, no other pod with the same full name starts (C24).
   */
  readonly holdsName: boolean;
  /** Whether the pod is being terminated to make room for a critical pod (C24). */
  readonly isPreempted: boolean;
  readonly deferralNumber?: number | undefined;
}

export interface Request {
  readonly uid: string;
  readonly fullName: string;
  readonly pod: Pod;
  readonly requests: PodRequests;
  readonly isAdopted: boolean;
  /** Whether a container of the pod is running. */
  readonly isRunning: boolean;
  /** Whether the pod was admitted before the agent restarted. */
  readonly wasAdmitted: boolean;
  /** Whether the request changes the resources of an admitted pod. */
  readonly isResize?: boolean | undefined;
  /** The resources for which the update changes the request of at least one container. */
  readonly changedRequests?: readonly ResizableResource[] | undefined;
  /** Whether another pod holds the full name. The request is not decided until that pod is gone (C24). */
  readonly awaitsName: boolean;
  /** The actor that receives the decision. */
  readonly holder: ActorPath;
  /**
   * Progress of rereading the Node, which is necessary if the node's labels are the only reason for a refusal. The
   * progress is not a state of the machine, because a request that arrives during a read needs another read.
   */
  readonly nodeRead?: 'due' | 'requested' | 'done';
  /** Labels and taints that the API server returned for this request. */
  readonly observedNode?: Pick<AdmissionNode, 'labels' | 'taints'>;
}

type PostponedRefusal = { readonly kind: 'doubted' };

const isReadingNode = ({ nodeRead }: Request): boolean => nodeRead === 'due' || nodeRead === 'requested';

/** Whether any pod waits for the Node to be reread. */
export const needsNodeRead = ({ waitingRequests }: AdmissionContext): boolean =>
  waitingRequests.some(({ nodeRead }) => nodeRead === 'due');

/** Marks the requests for which the Node is being read. */
export const markNodeReadStarted = (context: AdmissionContext): AdmissionContext =>
  updateNodeReads(context, 'due', (request) => ({ ...request, nodeRead: 'requested' }));

/**
 * Records that the Node has been reread, so that the requests that waited for it can be decided. The decision uses the
 * labels that were read or, if the read failed, the previously observed ones.
 */
export const markNodeReadDone = (context: AdmissionContext, observedNode?: Request['observedNode']): AdmissionContext =>
  updateNodeReads(context, 'requested', (request) => ({
    ...request,
    nodeRead: 'done',
    ...(observedNode ? { observedNode } : {}),
  }));

const updateNodeReads = (context: AdmissionContext, at: Request['nodeRead'], next: (request: Request) => Request) => ({
  ...context,
  waitingRequests: context.waitingRequests
    .filter(({ nodeRead }) => nodeRead === at)
    .reduce((pending, each) => withItem(pending, next(each)), context.waitingRequests),
});

export interface AdmissionContext extends AdmissionInput {
  /** The pods that hold resources or a full name, in order of arrival. There is at most one entry per UID. */
  readonly entries: readonly AdmissionEntry[];
  /**
   * Requests that wait until an earlier pod with the same full name is gone (C24), or until preempted pods have
   * released their resources.
   */
  readonly waitingRequests: readonly Request[];
  /** Updates of admitted pods that did not fit on the node. They are decided again whenever resources are released. */
  readonly refusedUpdates: readonly Request[];
  /** The highest `deferralNumber` that has been assigned to a deferred resize. */
  readonly deferralCount: number;
}

export const findEntry = ({ entries }: Pick<AdmissionContext, 'entries'>, uid: string): AdmissionEntry | undefined =>
  findByUid(entries, uid);

/** Replaces the entry with the same UID, or appends the entry. */
export function withEntry(context: AdmissionContext, entry: AdmissionEntry): AdmissionContext {
  const previousEntry = findEntry(context, entry.uid);
  return withUpdatedRequests({ ...context, entries: withItem(context.entries, entry) }, previousEntry, entry);
}

/**
 * Whether a request is for the deferred resize of its pod. A request for the resources that the pod already has
 * withdraws the deferred resize.
 */
export function hasDeferredResize(context: AdmissionContext, { uid, requests }: Request): boolean {
  const { allocated, deferralNumber } = findEntry(context, uid) ?? {};
  if (deferralNumber === undefined || !allocated) return false;
  return requests.cpuMillis !== allocated.cpuMillis || requests.memoryBytes !== allocated.memoryBytes;
}

/** Removes a pod's entry, which frees its name for the next pod. */
export function withoutEntry(context: AdmissionContext, uid: string): AdmissionContext {
  const previousEntry = findEntry(context, uid);
  return withUpdatedRequests({ ...context, entries: withoutItem(context.entries, uid) }, previousEntry);
}

/** Updates `awaitsName` of the pending requests if the change of an entry frees or takes a full name. */
function withUpdatedRequests(
  context: AdmissionContext,
  previousEntry?: AdmissionEntry,
  nextEntry?: AdmissionEntry,
): AdmissionContext {
  const [freedName, takenName] = [previousEntry, nextEntry].map((entry) =>
    entry?.holdsName ? entry.fullName : undefined,
  );
  if (freedName === takenName) return context;
  const updateRequests = (requests: readonly Request[]) =>
    [freedName, takenName]
      .flatMap((name) => (name === undefined ? [] : findByName(requests, name)))
      .reduce((pending, each) => withItem(pending, withNameCheck(context, each)), requests);
  return {
    ...context,
    waitingRequests: updateRequests(context.waitingRequests),
    refusedUpdates: updateRequests(context.refusedUpdates),
  };
}

/** Updates `awaitsName` of a request, i.e. whether another pod currently holds the full name. */
export function withNameCheck({ entries }: Pick<AdmissionContext, 'entries'>, request: Request): Request {
  const otherEntries = findByName(entries, request.fullName).filter(({ uid }) => uid !== request.uid);
  return { ...request, awaitsName: otherEntries.some(({ holdsName }) => holdsName) };
}

/**
 * Queues the refused updates of all pods except the pod `uid` for another decision, because they may fit now. The order
 * of decisions is that of `sortPendingResizes` in `pkg/kubelet/allocation/allocation_manager.go`: resizes that do not
 * raise the requests come first, then pods of higher priority, then Guaranteed pods, then resizes that were deferred
 * earlier.
 */
export function withRequeuedUpdates(context: AdmissionContext, uid = ''): AdmissionContext {
  const { waitingRequests, refusedUpdates } = withoutRequests(context, uid);
  const rankedUpdates = refusedUpdates.map((request) => ({ request, rank: retryRank(context, request) }));
  rankedUpdates.sort((first, second) => compareRanks(first.rank, second.rank));
  return {
    ...context,
    waitingRequests: rankedUpdates.map(({ request }) => request).reduce(withItem, waitingRequests),
    refusedUpdates: [],
  };
}

/**
 * Returns the sort key of a refused update, with the most significant component first. The update with the lowest key
 * is decided first.
 */
function retryRank(context: AdmissionContext, { uid, requests }: Request): readonly number[] {
  const { allocated = null, deferralNumber = 0 } = findEntry(context, uid) ?? {};
  const raisesRequests =
    allocated !== null && (requests.cpuMillis > allocated.cpuMillis || requests.memoryBytes > allocated.memoryBytes);
  return [Number(raisesRequests), -(requests.priority ?? 0), Number(requests.qos !== 'Guaranteed'), deferralNumber];
}

function compareRanks(first: readonly number[], second: readonly number[]): number {
  for (const [index, value] of first.entries()) {
    const difference = value - (second[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Drops the pending requests of a pod. */
export const withoutRequests = (context: AdmissionContext, uid: string): AdmissionContext => ({
  ...context,
  waitingRequests: withoutItem(context.waitingRequests, uid),
  refusedUpdates: withoutItem(context.refusedUpdates, uid),
});

/** Explains why a pod with an undecided request is waiting. */
export function waitDescription(
  { waitingRequests, entries, cpus, memory, devices }: AdmissionContext,
  uid: string,
): string | undefined {
  if (cpus?.unconfirmed.some((each) => each.uid === uid)) return 'the assignment of its exclusive CPUs to be saved';
  if (memory?.unconfirmed.some((each) => each.uid === uid)) return 'the assignment of its memory to be saved';
  const request = findByUid(waitingRequests, uid);
  if (request === undefined) return devices && deviceWait(devices, uid);
  if (isReadingNode(request))
    return 'the API server to return the labels of the node, because the known ones do not match';
  const nameHolder = findByName(entries, request.fullName).find((each) => each.holdsName && each.uid !== uid);
  return nameHolder === undefined
    ? 'other pods to terminate and to release the resources that it needs'
    : `the earlier pod of the same name, with UID ${nameHolder.uid}, to be removed`;
}

function listOccupants({ entries }: AdmissionContext, isOther: (uid: string) => boolean): EntryOccupant[] {
  const occupants: EntryOccupant[] = [];
  for (const { uid, allocated, occupied, desired, isPreempted } of entries) {
    if (allocated === null || !isOther(uid)) continue;
    occupants.push({
      uid,
      requests: occupied ?? allocated,
      currentRequests: desired ?? allocated,
      isPreempted,
      isLeaving: desired === null,
    });
  }
  return occupants;
}

interface EntryOccupant extends Occupant {
  readonly isPreempted: boolean;
  readonly isLeaving: boolean;
}

/**
 * The decision on a request. There is no decision while preempted pods have yet to release the resources that the
 * request needs.
 */
export interface RequestDecision {
  readonly request: Request;
  readonly decision: Decision | PostponedRefusal;
  /**
   * The CPUs and memory to allocate to a new pod, or the reason why none can be allocated. Undefined if the decision
   * does not depend on them.
   */
  readonly allocation?: PodAllocation | undefined;
  /** The devices that are reserved for a new pod. Undefined if the decision does not depend on devices. */
  readonly reservation?: Extract<PodReservation, { readonly pool: unknown }> | undefined;
}

/**
 * Returns the first request that can be decided, with its decision. A request that waits for resources reserves them,
 * so that later requests cannot take them.
 */
export function nextDecision(context: AdmissionContext): RequestDecision | undefined {
  const earlierRequests: Request[] = [];
  for (const request of context.waitingRequests) {
    if (request.awaitsName) continue;
    const requestDecision = isReadingNode(request) ? undefined : decideOnDevices(context, request, earlierRequests);
    if (requestDecision !== undefined)
      return { ...requestDecision, decision: postponeDoubtfulRefusal(context, request, requestDecision.decision) };
    earlierRequests.push(request);
  }
  return undefined;
}

/**
 * Returns a predicate for the pods that will release their resources soon, because they are leaving or being preempted.
 */
function isLeavingPod({ entries }: AdmissionContext): (podUid: string) => boolean {
  const leavingUids = new Set(entries.filter(isLeaving).map(({ uid }) => uid));
  return (podUid) => leavingUids.has(podUid);
}

/** Creates an allocator for a pod's devices. Returns undefined if the node has no device plugins. */
function deviceAllocator(
  context: AdmissionContext,
  pod: Pod,
  isReleased?: (podUid: string) => boolean,
): PodDeviceAllocator | undefined {
  const { devices } = context;
  if (devices === undefined) return undefined;
  const hostNodes = context.topologyManager?.numaNodes.ids;
  const pool = isReleased === undefined ? devices.pool : releaseDevices(devices.pool, isReleased);
  return new PodDeviceAllocator(pool, pod, hostNodes);
}

/**
 * Reserves devices again for a container of an admitted pod, on the NUMA nodes that the topology manager chooses for it.
 * Returns undefined if the node has no device plugins.
 */
export function reserveAgainAligned(
  context: AdmissionContext,
  pod: Pod,
  container: Container,
): PodReservation | undefined {
  const allocator = deviceAllocator(context, pod);
  if (allocator === undefined) return undefined;
  return reserveAgain(allocator, pod, container, () =>
    numaNodesOfAdmitted(managersOf(context), assignmentsOf(context), { pod, container }, allocator),
  );
}

/**
 * Decides on a request, and reserves devices for a new pod. Like missing CPUs, missing devices are the reason for the
 * refusal even if other resources are missing too. A pod that is already running retains the devices that it has.
 */
function decideOnDevices(
  context: AdmissionContext,
  request: Request,
  earlierRequests: readonly Request[],
): ReturnType<typeof decideOnResources> {
  const { devices } = context;
  const allocator = deviceAllocator(context, request.pod);
  const decision = decideOnResources(context, request, { earlierRequests, devices: allocator });
  if (devices === undefined || request.isRunning || isForAdmittedPod(context, request)) return decision;
  if (
    decision?.decision.kind === 'preempting' ||
    (decision?.allocation !== undefined && 'refusal' in decision.allocation)
  )
    return decision;
  if (decision?.decision.kind === 'refused' && decision.decision.reason === 'SysctlForbidden') return decision;
  // A pod without allocated CPUs and memory waits, so only check whether enough devices are free, regardless of their
  // NUMA nodes.
  const reservation =
    allocator === undefined || decision?.allocation === undefined
      ? reserveDevices(devices.pool, request.pod)
      : allocator.result();
  if ('pool' in reservation) return decision && { ...decision, reservation };
  const poolAfterwards = releaseDevices(devices.pool, isLeavingPod(context));
  if ('pool' in reserveDevices(poolAfterwards, request.pod)) return undefined;
  return { request, decision: { kind: 'refused', ...deviceRefusal(reservation.problem) } };
}

/**
 * Decides on a request, and allocates CPUs and memory to a new pod. If these are not available, the pod is refused for
 * that reason even if other resources are missing too, as in the kubelet, unless it may preempt other pods. If
 * terminating pods will release enough of them, the pod waits. A pod that is already running is admitted in any case,
 * and uses the shared CPUs if no exclusive ones are left for it.
 */
function decideOnResources(
  context: AdmissionContext,
  request: Request,
  { earlierRequests, devices }: { earlierRequests: readonly Request[]; devices: PodDeviceAllocator | undefined },
): (Omit<RequestDecision, 'decision'> & { readonly decision: Decision }) | undefined {
  const decision = decideRequest(context, request, earlierRequests);
  if (isForAdmittedPod(context, request)) {
    const refusal = exclusiveResizeRefusal(context, request);
    return refusal === undefined ? decision && { request, decision } : { request, decision: refusal };
  }
  if (decision?.kind === 'preempting' || (decision?.kind === 'refused' && decision.reason === 'SysctlForbidden'))
    return { request, decision };
  const [managers, assignments] = [managersOf(context), assignmentsOf(context)];
  const allocation = allocatePod(managers, assignments, request.pod, devices);
  if ('assignments' in allocation) return decision && { request, decision, allocation };
  if (request.isAdopted) return { request, decision: { kind: 'admitted' }, allocation };
  const isReleased = isLeavingPod(context);
  const assignmentsAfterwards = releaseResources(assignments, isReleased);
  const devicesAfterwards = deviceAllocator(context, request.pod, isReleased);
  if ('assignments' in allocatePod(managers, assignmentsAfterwards, request.pod, devicesAfterwards)) return undefined;
  return { request, decision: { kind: 'refused', ...allocation.refusal }, allocation };
}

const managersOf = ({ topologyManager, cpus, memory }: AdmissionContext): ResourceManagers => ({
  topologyManager,
  cpuPolicy: cpus?.cpuPolicy,
  memoryPolicy: memory?.memoryPolicy,
});

const assignmentsOf = ({ cpus, memory }: AdmissionContext): ResourceAssignments => ({
  cpus: cpus?.assignments,
  memory: memory?.assignments,
});

const releaseResources = (
  { cpus, memory }: ResourceAssignments,
  isReleased: (podUid: string) => boolean,
): ResourceAssignments => ({
  cpus: cpus && releaseCpus(cpus, ({ podUid }) => isReleased(podUid)),
  memory: memory && releaseMemory(memory, ({ podUid }) => isReleased(podUid)),
});

/**
 * Returns the refusal of a resize of a Guaranteed pod whose containers may have exclusive CPUs or memory
 * (`pkg/kubelet/allocation/handlers.go`). Returns undefined if the update changes neither CPU nor memory requests.
 */
function exclusiveResizeRefusal(
  { cpus, memory }: AdmissionContext,
  { requests, changedRequests = [] }: Request,
): Decision | undefined {
  if (requests.qos !== 'Guaranteed') return undefined;
  if (cpus !== undefined && changedRequests.includes('cpu'))
    return { kind: 'refused', ...infeasibleRefusal('guaranteed_pod_cpu_manager_static_policy') };
  if (memory !== undefined && changedRequests.includes('memory'))
    return { kind: 'refused', ...infeasibleRefusal('guaranteed_pod_memory_manager_static_policy') };
  return undefined;
}

const isLeaving = ({ desired, isPreempted }: AdmissionEntry): boolean => desired === null || isPreempted;

/** Returns the context with changed assignments, which have yet to be saved. */
function withAssignments(context: AdmissionContext, { cpus, memory }: ResourceAssignments): AdmissionContext {
  return {
    ...context,
    cpus:
      context.cpus &&
      (isChanged(context.cpus, cpus) ? { ...context.cpus, ...nextRevision(context.cpus, cpus) } : context.cpus),
    memory:
      context.memory &&
      (isChanged(context.memory, memory)
        ? { ...context.memory, ...nextRevision(context.memory, memory) }
        : context.memory),
  };
}

const isChanged = <T>({ assignments }: DurableAssignments<T>, next: T | undefined): next is T =>
  next !== undefined && next !== assignments;

const nextRevision = <T>({ revision }: DurableAssignments<T>, assignments: T) => ({
  assignments,
  revision: revision + 1,
});

/** Releases the CPUs, the memory and the devices of pods that no longer run. */
export const withoutResources = (
  context: AdmissionContext,
  isReleased: (podUid: string) => boolean,
): AdmissionContext => withoutDevices(withoutAssignments(context, isReleased), isReleased);

function withoutAssignments(context: AdmissionContext, isReleased: (podUid: string) => boolean): AdmissionContext {
  const confirmableContext = {
    ...context,
    cpus: context.cpus && withoutUnconfirmed(context.cpus, ({ uid }) => isReleased(uid)),
    memory: context.memory && withoutUnconfirmed(context.memory, ({ uid }) => isReleased(uid)),
  };
  return withAssignments(confirmableContext, releaseResources(assignmentsOf(context), isReleased));
}

/** Releases the memory of a pod's init containers, which have completed. */
export function withoutInitMemory(
  context: AdmissionContext,
  uid: string,
  containers: readonly string[],
): AdmissionContext {
  const { memory } = context;
  if (memory === undefined) return context;
  const assignments = releaseMemory(
    memory.assignments,
    ({ podUid, container }) => podUid === uid && containers.includes(container),
  );
  return withAssignments(context, { memory: assignments });
}

function withoutUnconfirmed<T extends DurableAssignments<unknown>>(
  allocation: T,
  isRemoved: (pod: UnconfirmedPod) => boolean,
): T {
  return allocation.unconfirmed.some(isRemoved)
    ? { ...allocation, unconfirmed: allocation.unconfirmed.filter((each) => !isRemoved(each)) }
    : allocation;
}

/**
 * Marks the CPU or memory assignments up to a revision as durable. Also returns the pods that can be admitted, i.e. those
 * that wait for no other resource.
 */
export function withSaved(
  context: AdmissionContext,
  resource: 'cpus' | 'memory',
  savedRevision: number,
): { readonly context: AdmissionContext; readonly admitted: readonly UnconfirmedPod[] } {
  const isSaved = ({ revision }: UnconfirmedPod) => revision <= savedRevision;
  const nextContext =
    resource === 'cpus'
      ? { ...context, cpus: context.cpus && withoutUnconfirmed(context.cpus, isSaved) }
      : { ...context, memory: context.memory && withoutUnconfirmed(context.memory, isSaved) };
  const waitingUids = new Set(unconfirmedPods(nextContext).map(({ uid }) => uid));
  return { context: nextContext, admitted: unconfirmedPods(context).filter(({ uid }) => !waitingUids.has(uid)) };
}

/** Returns the pods that wait for their CPUs or their memory to be saved. A pod that waits for both occurs once. */
function unconfirmedPods({ cpus, memory }: AdmissionContext): readonly UnconfirmedPod[] {
  const pods = [...(cpus?.unconfirmed ?? []), ...(memory?.unconfirmed ?? [])];
  return [...new Map(pods.map((pod) => [pod.uid, pod])).values()];
}

/** Whether the result of a decision has to wait until the pod's CPU and memory assignments are on disk. */
export const awaitsSave = (before: AdmissionContext, after: AdmissionContext): boolean =>
  before.cpus?.revision !== after.cpus?.revision || before.memory?.revision !== after.memory?.revision;

/** Defers the result of the last decision until the assignments that it changed are durable. */
export const withUnconfirmed = (
  before: AdmissionContext,
  after: AdmissionContext,
  request: Request,
): AdmissionContext => ({
  ...after,
  cpus: after.cpus && withUnconfirmedPod(before.cpus, after.cpus, request),
  memory: after.memory && withUnconfirmedPod(before.memory, after.memory, request),
});

function withUnconfirmedPod<T extends DurableAssignments<unknown>>(
  before: T | undefined,
  after: T,
  { uid, pod, holder }: Request,
): T {
  const { revision, unconfirmed } = after;
  if (before?.revision === revision) return after;
  return { ...after, unconfirmed: [...unconfirmed, { uid, pod, holder, revision }] };
}

/**
 * Whether an admitted pod has to wait until its CPU and memory assignments are on disk, or until its devices are
 * allocated and the allocations are on disk.
 */
export const isUnconfirmed = (context: AdmissionContext, uid: string): boolean =>
  unconfirmedPods(context).some((each) => each.uid === uid) ||
  context.devices?.pending.some((each) => each.uid === uid && each.reallocation === undefined) === true;

/**
 * Postpones a refusal if the node's labels are its only reason, because another client may just have changed them to
 * make the pod fit.
 */
function postponeDoubtfulRefusal(
  { hasCluster }: AdmissionContext,
  { nodeRead }: Request,
  decision: Decision,
): Decision | PostponedRefusal {
  const isDoubtful = hasCluster && nodeRead === undefined && decision.kind === 'refused' && decision.isByLabels;
  return isDoubtful ? { kind: 'doubted' } : decision;
}

/**
 * Decides on a request, or returns undefined if it has to wait. Waiting requests of pods that this pod may preempt are
 * ignored, because they do not hold any resources yet.
 */
function decideRequest(
  context: AdmissionContext,
  request: Request,
  earlierRequests: readonly Request[],
): Decision | undefined {
  if (request.isAdopted) return { kind: 'admitted' };
  const { requests } = request;
  const reservingRequests = earlierRequests.filter((each) => !isPreemptable(requests, each.requests));
  const otherOccupants = listOccupants(
    context,
    (uid) => uid !== request.uid && !reservingRequests.some((each) => each.uid === uid),
  );
  const isUpdate = isForAdmittedPod(context, request);
  // Ignore preempted pods and, for a new pod, all leaving pods, because the request can wait until they have released
  // their resources. An update that does not fit because of leaving pods is deferred instead, while its pod continues
  // to run.
  const stayingOccupants = otherOccupants.filter(
    ({ isPreempted, isLeaving }) => !isPreempted && (isUpdate || !isLeaving),
  );
  const node = { ...context.node, ...request.observedNode };
  const capacity = context.devices
    ? capacityForPod(context.devices.pool, request.uid, context.capacity)
    : context.capacity;
  const nodeState = {
    ...context,
    capacity,
    node,
    occupants: stayingOccupants,
    reserved: requestsOf(reservingRequests),
  };
  const decision = isUpdate ? decideOnUpdate(request, nodeState) : decideAdmission(request, nodeState);
  // Only an admission has to be checked against the resources that leaving pods have yet to release.
  if (decision.kind !== 'admitted' || stayingOccupants.length === otherOccupants.length) return decision;
  const allRequests = [...requestsOf(otherOccupants), ...nodeState.reserved];
  return resourceConflict(requests, allRequests, capacity) === undefined ? decision : undefined;
}

/** Returns the context after a decision has been applied. */
export function afterDecision(context: AdmissionContext, requestDecision: RequestDecision): AdmissionContext {
  const { request, decision, allocation, reservation } = requestDecision;
  if (decision.kind === 'preempting') return { ...context, entries: markPreempted(context.entries, decision.uids) };
  if (decision.kind === 'doubted')
    return { ...context, waitingRequests: withItem(context.waitingRequests, { ...request, nodeRead: 'due' }) };
  const { uid } = request;
  const entry = findEntry(context, uid);
  if (entry === undefined) return context;
  const isUpdate = isForAdmittedPod(context, request);
  const allocated = decision.kind === 'admitted' ? grantedRequests(request, entry) : isUpdate ? entry.allocated : null;
  const waitingRequests = withoutItem(context.waitingRequests, uid);
  const nextEntry = {
    ...entry,
    allocated,
    occupied: occupiedAfter(requestDecision, entry, allocated),
    holdsName: allocated !== null,
  };
  // An infeasible resize is final. As in the kubelet, only a different resize is decided again.
  if (isUpdate && decision.kind === 'refused' && decision.reason === 'Infeasible')
    return withEntry({ ...context, waitingRequests }, { ...nextEntry, deferralNumber: undefined });
  if (isUpdate && decision.kind !== 'admitted') {
    const deferralNumber = entry.deferralNumber ?? context.deferralCount + 1;
    const deferralCount = Math.max(context.deferralCount, deferralNumber);
    const nextContext = withEntry({ ...context, waitingRequests, deferralCount }, { ...nextEntry, deferralNumber });
    return { ...nextContext, refusedUpdates: withItem(nextContext.refusedUpdates, request) };
  }
  const isGranted = decision.kind === 'admitted' && allocation !== undefined && 'assignments' in allocation;
  const grantedContext = isGranted ? withAssignments(context, allocation.assignments) : context;
  const reservingContext =
    decision.kind === 'admitted' && reservation !== undefined
      ? withPendingDevices(grantedContext, reservation, request)
      : grantedContext;
  // Release the resources that the previous agent had allocated to a refused pod.
  const heldContext =
    decision.kind === 'refused' ? withoutResources(reservingContext, (each) => each === uid) : reservingContext;
  const nextContext = withEntry({ ...heldContext, waitingRequests }, { ...nextEntry, deferralNumber: undefined });
  return entry.allocated === null ? nextContext : withRequeuedUpdates(nextContext, uid);
}

/**
 * Returns the resources that a pod occupies after a decision. The former resources remain occupied until the resize is
 * complete, because the kubelet counts the resources in the status (`CalculateResource` in
 * `pkg/scheduler/framework/types.go`).
 */
function occupiedAfter(
  { request: { isResize = false }, decision }: RequestDecision,
  { occupied, allocated: former }: AdmissionEntry,
  allocated: PodRequests | null,
): PodRequests | undefined {
  if (allocated === null) return undefined;
  if (!isResize || decision.kind !== 'admitted' || former === null) return occupied;
  const { cpuMillis, memoryBytes } = occupied ?? former;
  return {
    ...allocated,
    cpuMillis: Math.max(cpuMillis, allocated.cpuMillis),
    memoryBytes: Math.max(memoryBytes, allocated.memoryBytes),
  };
}

/** Records that a pod has exactly its admitted resources. */
export function withCompletedResize(context: AdmissionContext, uid: string): AdmissionContext {
  const entry = findEntry(context, uid);
  if (entry?.occupied === undefined) return context;
  return withRequeuedUpdates(withEntry(context, { ...entry, occupied: undefined }), uid);
}

/** Returns the granted resources. A pod that is already running retains the resources that it was admitted with. */
const grantedRequests = ({ isAdopted, requests }: Request, { allocated }: AdmissionEntry): PodRequests =>
  (isAdopted ? allocated : null) ?? requests;

/** Marks the entries of the given pods as being preempted. */
const markPreempted = (entries: readonly AdmissionEntry[], uids: readonly string[]): AdmissionEntry[] =>
  entries.map((entry) => (uids.includes(entry.uid) ? { ...entry, isPreempted: true } : entry));

/**
 * Whether the request updates a pod that has already been admitted. After a restart of the agent, a persisted
 * allocation reserves resources for its pod, but the request of that pod is decided like the request of a new pod.
 */
function isForAdmittedPod(context: AdmissionContext, { uid }: Request): boolean {
  const { holdsName = false, allocated = null } = findEntry(context, uid) ?? {};
  return holdsName && allocated !== null;
}

const requestsOf = (holders: readonly { readonly requests: PodRequests }[]): PodRequests[] =>
  holders.map(({ requests }) => requests);

/**
 * Decides on an update of an admitted pod. A resize is subject to all checks of a new pod, even to those that are
 * skipped after a restart of the agent (`handlePodResourcesResize` in `pkg/kubelet/allocation/allocation_manager.go`).
 * A refused update may remain pending, in which case it is retried.
 */
function decideOnUpdate(request: Request, nodeUsage: NodeUsage): Decision {
  const { isResize = false, requests } = request;
  const decision = isResize
    ? decideAdmission({ ...request, wasAdmitted: false }, nodeUsage)
    : decideUpdate(requests, nodeUsage);
  return decision.kind === 'refused' ? { ...decision, ...toPendingRefusal(decision, isResize) } : decision;
}
