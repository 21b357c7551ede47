/** Defines the context of the admission machine and selects its next step. The chart is in chart.ts. */
import { type Decision, decideAdmission, decideUpdate } from '../../kubernetes/admission/decide.ts';
import type { AdmissionNode } from '../../kubernetes/admission/node.ts';
import { isPreemptable, type Occupant } from '../../kubernetes/admission/preemption.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { allocatePod, type PodCpuAllocation, type ResourceManagers } from '../../kubernetes/cpus/allocatePod.ts';
import {
  type CpuAssignments,
  exclusiveCpuCount,
  findAssignment,
  releaseCpus,
} from '../../kubernetes/cpus/cpuPolicy.ts';
import { type Capacity, type PodRequests, resourceConflict } from '../../kubernetes/resources/requests.ts';
import { infeasibleRefusal, toPendingRefusal } from '../../kubernetes/resources/resize.ts';
import type { ActorPath } from '../shared/events/slots.ts';
import { findByName, findByUid, withItem, withoutItem } from './indexed.ts';

export interface AdmissionInput {
  readonly capacity: Capacity;
  readonly node: AdmissionNode;
  /**
   * Whether the node belongs to a cluster. In a cluster, other clients can change the node's labels before the node
   * observes the change, but the API server can be queried.
   */
  readonly hasCluster?: boolean;
  /** Undefined if the node does not assign exclusive CPUs. */
  readonly cpus?: CpuAllocation;
}

/** The exclusive CPUs of the node's containers, and the policies by which they are assigned. */
export interface CpuAllocation extends ResourceManagers {
  readonly assignments: CpuAssignments;
  /** Revision number of the assignments, which increases with each change. */
  readonly revision: number;
  /** Revision number of the assignments that were last sent to the CPU manager to be saved. */
  readonly reportedRevision: number;
  /** Admitted pods whose actors are not notified until the assignments with the given `revision` are durable. */
  readonly unconfirmed: readonly { readonly uid: string; readonly holder: ActorPath; readonly revision: number }[];
}

export interface AdmissionEntry {
  readonly uid: string;
  readonly fullName: string;
  /** Null if the pod is leaving, because no source wants it or none of its containers will run again. */
  readonly desired: PodRequests | null;
  readonly allocated: PodRequests | null;
  /**
   * True from the pod's admission until it is completely removed. During this time no other pod with the same full name
   * starts (C24).
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
  /** Whether the pod had been admitted before a restart of the agent. */
  readonly wasAdmitted: boolean;
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
 * Marks the requests for which the Node was read as ready to decide. The decision uses the labels that were read or, if
 * the read failed, the previously observed ones.
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
 * withdraws the resize.
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

/** Updates only the requests for a full name whose holder has changed. */
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

/** Sets whether another pod currently holds the request's full name. */
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
export function waitDescription({ waitingRequests, entries, cpus }: AdmissionContext, uid: string): string | undefined {
  if (cpus?.unconfirmed.some((each) => each.uid === uid)) return 'the assignment of its exclusive CPUs to be saved';
  const request = findByUid(waitingRequests, uid);
  if (request === undefined) return undefined;
  if (isReadingNode(request))
    return 'the API server to return the labels of the node, because the known ones do not match';
  const nameHolder = findByName(entries, request.fullName).find((each) => each.holdsName && each.uid !== uid);
  return nameHolder === undefined
    ? 'other pods to terminate and to release the resources that it needs'
    : `the earlier pod of the same name, with UID ${nameHolder.uid}, to be removed`;
}

function listOccupants({ entries }: AdmissionContext, isOther: (uid: string) => boolean): EntryOccupant[] {
  const occupants: EntryOccupant[] = [];
  for (const { uid, allocated, desired, isPreempted } of entries) {
    if (allocated === null || !isOther(uid)) continue;
    occupants.push({
      uid,
      requests: allocated,
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
  /** The CPUs that a new pod gets, or why it gets none. Undefined if the decision does not depend on CPUs. */
  readonly allocation?: PodCpuAllocation | undefined;
}

/**
 * Returns the first request that can be decided, with its decision. A request that waits for resources reserves them,
 * so that later requests cannot take them.
 */
export function nextDecision(context: AdmissionContext): RequestDecision | undefined {
  const earlierRequests: Request[] = [];
  for (const request of context.waitingRequests) {
    if (request.awaitsName) continue;
    const requestDecision = isReadingNode(request) ? undefined : decideOnCpus(context, request, earlierRequests);
    if (requestDecision !== undefined)
      return { ...requestDecision, decision: postponeDoubtfulRefusal(context, request, requestDecision.decision) };
    earlierRequests.push(request);
  }
  return undefined;
}

/**
 * Decides on a request, and allocates CPUs to a new pod. If the pod's CPUs are not available, the pod is refused for
 * that reason even if other resources are missing too, as in a kubelet, unless it may preempt other pods. If
 * terminating pods will release enough CPUs, the pod waits for them. A pod that is already running is admitted in any
 * case, and uses the shared CPUs if no exclusive ones are left for it.
 */
function decideOnCpus(
  context: AdmissionContext,
  request: Request,
  earlierRequests: readonly Request[],
): (Omit<RequestDecision, 'decision'> & { readonly decision: Decision }) | undefined {
  const decision = decideRequest(context, request, earlierRequests);
  const { cpus } = context;
  if (cpus === undefined) return decision && { request, decision };
  if (isForAdmittedPod(context, request)) {
    return resizesExclusiveCpus(context, request)
      ? { request, decision: EXCLUSIVE_CPUS_REFUSAL }
      : decision && { request, decision };
  }
  if (decision?.kind === 'preempting' || (decision?.kind === 'refused' && decision.reason === 'SysctlForbidden'))
    return { request, decision };
  const allocation = allocatePod(cpus, cpus.assignments, request.pod);
  if ('assignments' in allocation) return decision && { request, decision, allocation };
  if (request.isAdopted) return { request, decision: { kind: 'admitted' }, allocation };
  const leavingUids = new Set(context.entries.filter(isLeaving).map(({ uid }) => uid));
  const assignmentsAfterwards = releaseCpus(cpus.assignments, ({ podUid }) => leavingUids.has(podUid));
  if ('assignments' in allocatePod(cpus, assignmentsAfterwards, request.pod)) return undefined;
  return { request, decision: { kind: 'refused', ...allocation.refusal }, allocation };
}

/** The refusal of a resize of a pod whose containers may have exclusive CPUs (`allocation/handlers.go`). */
const EXCLUSIVE_CPUS_REFUSAL: Decision = {
  kind: 'refused',
  ...infeasibleRefusal('guaranteed_pod_cpu_manager_static_policy'),
};

/** Whether an update changes the CPUs of a Guaranteed pod. */
function resizesExclusiveCpus(context: AdmissionContext, { uid, pod, requests }: Request): boolean {
  const { allocated = null } = findEntry(context, uid) ?? {};
  if (requests.qos !== 'Guaranteed' || context.cpus === undefined) return false;
  if (requests.cpuMillis !== allocated?.cpuMillis) return true;
  const { assignments } = context.cpus;
  return [...(pod.spec.initContainers ?? []), ...pod.spec.containers].some((container) => {
    const existingAssignment = findAssignment(assignments, uid, container.name);
    return (
      existingAssignment !== undefined && existingAssignment.cpus.length !== exclusiveCpuCount(pod.spec, container)
    );
  });
}

const isLeaving = ({ desired, isPreempted }: AdmissionEntry): boolean => desired === null || isPreempted;

/** Returns the context with changed CPU assignments, which have yet to be saved. */
function withAssignments(context: AdmissionContext, assignments: CpuAssignments): AdmissionContext {
  const { cpus } = context;
  if (cpus === undefined || assignments === cpus.assignments) return context;
  return { ...context, cpus: { ...cpus, assignments, revision: cpus.revision + 1 } };
}

/** Releases the CPUs of pods that no longer run. */
export function withoutCpus(context: AdmissionContext, isReleased: (podUid: string) => boolean): AdmissionContext {
  const { cpus } = context;
  if (cpus === undefined) return context;
  const unconfirmed = cpus.unconfirmed.filter(({ uid }) => !isReleased(uid));
  const confirmableCpus = unconfirmed.length === cpus.unconfirmed.length ? cpus : { ...cpus, unconfirmed };
  return withAssignments(
    { ...context, cpus: confirmableCpus },
    releaseCpus(cpus.assignments, ({ podUid }) => isReleased(podUid)),
  );
}

/** Whether the result of a decision has to wait until the CPUs of the pod are durable. */
export const awaitsSave = (before: AdmissionContext, after: AdmissionContext): boolean =>
  before.cpus?.revision !== after.cpus?.revision;

/** Defers the result of the last decision until the CPU assignments are durable. */
export const withUnconfirmed = (context: AdmissionContext, { uid, holder }: Request): AdmissionContext => {
  const { cpus } = context;
  if (cpus === undefined) return context;
  const unconfirmed = [...cpus.unconfirmed, { uid, holder, revision: cpus.revision }];
  return { ...context, cpus: { ...cpus, unconfirmed } };
};

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
 * Decides on a request, or returns undefined if it has to wait. Waiting requests that this request may preempt are
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
  // A new pod waits until leaving pods have released their resources. An update that does not fit is refused instead,
  // which defers it while its pod continues to run.
  const stayingOccupants = otherOccupants.filter(
    ({ isPreempted, isLeaving }) => !isPreempted && (isUpdate || !isLeaving),
  );
  const node = { ...context.node, ...request.observedNode };
  const nodeState = { ...context, node, occupants: stayingOccupants, reserved: requestsOf(reservingRequests) };
  const decision = isUpdate ? updateDecision(decideUpdate(requests, nodeState)) : decideAdmission(request, nodeState);
  // Only an admission can depend on resources that leaving pods have yet to release.
  if (decision.kind !== 'admitted' || stayingOccupants.length === otherOccupants.length) return decision;
  const allRequests = [...requestsOf(otherOccupants), ...nodeState.reserved];
  return resourceConflict(requests, allRequests, context.capacity) === undefined ? decision : undefined;
}

/** Returns the context after a decision has been applied. */
export function afterDecision(context: AdmissionContext, requestDecision: RequestDecision): AdmissionContext {
  const { request, decision, allocation } = requestDecision;
  if (decision.kind === 'preempting') return { ...context, entries: markPreempted(context.entries, decision.uids) };
  if (decision.kind === 'doubted')
    return { ...context, waitingRequests: withItem(context.waitingRequests, { ...request, nodeRead: 'due' }) };
  const { uid } = request;
  const entry = findEntry(context, uid);
  if (entry === undefined) return context;
  const isUpdate = isForAdmittedPod(context, request);
  const allocated = decision.kind === 'admitted' ? grantedRequests(request, entry) : isUpdate ? entry.allocated : null;
  const waitingRequests = withoutItem(context.waitingRequests, uid);
  const nextEntry = { ...entry, allocated, holdsName: allocated !== null };
  if (isUpdate && decision.kind !== 'admitted') {
    const deferralNumber = entry.deferralNumber ?? context.deferralCount + 1;
    const deferralCount = Math.max(context.deferralCount, deferralNumber);
    const nextContext = withEntry({ ...context, waitingRequests, deferralCount }, { ...nextEntry, deferralNumber });
    return { ...nextContext, refusedUpdates: withItem(nextContext.refusedUpdates, request) };
  }
  const isGranted = decision.kind === 'admitted' && allocation !== undefined && 'assignments' in allocation;
  const contextWithCpus = isGranted ? withAssignments(context, allocation.assignments) : context;
  const nextContext = withEntry({ ...contextWithCpus, waitingRequests }, { ...nextEntry, deferralNumber: undefined });
  return entry.allocated === null ? nextContext : withRequeuedUpdates(nextContext, uid);
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

/** Turns the refusal of an update into a pending resize, which is retried. */
const updateDecision = (decision: Decision): Decision =>
  decision.kind === 'refused' ? { ...decision, ...toPendingRefusal(decision) } : decision;
