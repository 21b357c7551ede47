/** Defines the context of the admission machine and selects its next step. The chart is in chart.ts. */
import { type Decision, decide, decideUpdate } from '../../kubernetes/admission/decide.ts';
import type { AdmissionNode } from '../../kubernetes/admission/node.ts';
import { isPreemptable, type Occupant } from '../../kubernetes/admission/preemption.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { type Capacity, type PodRequests, resourceConflict } from '../../kubernetes/resources/requests.ts';
import { pendingResize } from '../../kubernetes/resources/resize.ts';
import type { ActorPath } from '../shared/slots.ts';
import { drop, find, named, put } from './indexed.ts';

export interface AdmissionInput {
  readonly capacity: Capacity;
  readonly node: AdmissionNode;
  /**
   * Whether the node belongs to a cluster. In a cluster, other clients can change the node's labels before the node
   * observes the change, but the API server can be queried.
   */
  readonly hasCluster?: boolean;
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
  readonly preempted: boolean;
  readonly deferral?: number | undefined;
}

export interface Request {
  readonly uid: string;
  readonly fullName: string;
  readonly pod: Pod;
  readonly requests: PodRequests;
  readonly adopted: boolean;
  /** Whether the pod had been admitted before a restart of the agent. */
  readonly known: boolean;
  /** Whether another pod holds the full name. The request is not decided before that pod is gone (C24). */
  readonly awaitsName: boolean;
  /** The actor that receives the decision. */
  readonly holder: ActorPath;
  /** Progress of reading the Node again, which is required if the node's labels are the only reason for a refusal. */
  readonly look?: 'due' | 'asked' | 'done';
  /** Labels and taints that the API server returned for this request. */
  readonly seen?: Pick<AdmissionNode, 'labels' | 'taints'>;
}

type Doubt = { readonly kind: 'doubted' };

const isLooking = ({ look }: Request): boolean => look === 'due' || look === 'asked';

/** Whether a pod waits for the Node to be read again. */
export const hasDoubt = ({ waiting }: AdmissionContext): boolean => waiting.some(({ look }) => look === 'due');

/** Marks the requests for which the Node is being read. */
export const asking = (context: AdmissionContext): AdmissionContext =>
  looked(context, 'due', (request) => ({ ...request, look: 'asked' }));

/**
 * Marks the requests for which the Node was read as ready to decide. The decision uses the labels that were read or, if
 * the read failed, the previously observed ones.
 */
export const answered = (context: AdmissionContext, seen?: Request['seen']): AdmissionContext =>
  looked(context, 'asked', (request) => ({ ...request, look: 'done', ...(seen ? { seen } : {}) }));

const looked = (context: AdmissionContext, at: Request['look'], next: (request: Request) => Request) => ({
  ...context,
  waiting: context.waiting
    .filter(({ look }) => look === at)
    .reduce((all, each) => put(all, next(each)), context.waiting),
});

export interface AdmissionContext extends AdmissionInput {
  /** The pods that have resources or a name at admission, in order of arrival. At most one entry per UID. */
  readonly entries: readonly AdmissionEntry[];
  /**
   * Requests that wait until an earlier pod with the same full name is gone (C24), or until preempted pods have
   * released their resources.
   */
  readonly waiting: readonly Request[];
  /** Updates of admitted pods that did not fit on the node. They are decided again whenever resources are released. */
  readonly refused: readonly Request[];
  /** The number of resizes deferred so far. */
  readonly deferrals: number;
}

export const entryOf = ({ entries }: Pick<AdmissionContext, 'entries'>, uid: string): AdmissionEntry | undefined =>
  find(entries, uid);

/** Replaces the entry with the same UID, or appends the entry. */
export function withEntry(context: AdmissionContext, entry: AdmissionEntry): AdmissionContext {
  const before = entryOf(context, entry.uid);
  return withNames({ ...context, entries: put(context.entries, entry) }, before, entry);
}

/**
 * Whether a request is for the deferred resize of its pod. A request for the resources that the pod already has
 * withdraws the resize.
 */
export function hasDeferredResize(context: AdmissionContext, { uid, requests }: Request): boolean {
  const { allocated, deferral } = entryOf(context, uid) ?? {};
  if (deferral === undefined || !allocated) return false;
  return requests.cpuMillis !== allocated.cpuMillis || requests.memoryBytes !== allocated.memoryBytes;
}

/** Removes a pod's entry, which frees its name for the next pod. */
export function withoutEntry(context: AdmissionContext, uid: string): AdmissionContext {
  const before = entryOf(context, uid);
  return withNames({ ...context, entries: drop(context.entries, uid) }, before);
}

/** Updates only the requests for a full name whose holder has changed. */
function withNames(context: AdmissionContext, before?: AdmissionEntry, after?: AdmissionEntry): AdmissionContext {
  const [freed, taken] = [before, after].map((entry) => (entry?.holdsName ? entry.fullName : undefined));
  if (freed === taken) return context;
  const renewed = (requests: readonly Request[]) =>
    [freed, taken]
      .flatMap((name) => (name === undefined ? [] : named(requests, name)))
      .reduce((all, each) => put(all, withName(context, each)), requests);
  return { ...context, waiting: renewed(context.waiting), refused: renewed(context.refused) };
}

/** Sets whether another pod currently holds the request's full name. */
export function withName({ entries }: Pick<AdmissionContext, 'entries'>, request: Request): Request {
  const others = named(entries, request.fullName).filter(({ uid }) => uid !== request.uid);
  return { ...request, awaitsName: others.some(({ holdsName }) => holdsName) };
}

/**
 * Queues the refused updates of all pods except this one for another decision, because they may fit now. The order of
 * decisions is that of `sortPendingResizes` in `pkg/kubelet/allocation/allocation_manager.go`: resizes that do not
 * raise the requests come first, then pods of higher priority, then Guaranteed pods, then resizes that were deferred
 * earlier.
 */
export function reopened(context: AdmissionContext, uid = ''): AdmissionContext {
  const { waiting, refused } = withoutRequests(context, uid);
  const ranked = refused.map((request) => ({ request, rank: retryRank(context, request) }));
  ranked.sort((first, second) => compareRanks(first.rank, second.rank));
  return { ...context, waiting: ranked.map(({ request }) => request).reduce(put, waiting), refused: [] };
}

/** Returns the sort key of a refused update, most significant component first. The lowest key is decided first. */
function retryRank(context: AdmissionContext, { uid, requests }: Request): readonly number[] {
  const { allocated = null, deferral = 0 } = entryOf(context, uid) ?? {};
  const raises =
    allocated !== null && (requests.cpuMillis > allocated.cpuMillis || requests.memoryBytes > allocated.memoryBytes);
  return [Number(raises), -(requests.priority ?? 0), Number(requests.qos !== 'Guaranteed'), deferral];
}

function compareRanks(one: readonly number[], other: readonly number[]): number {
  for (const [index, value] of one.entries()) {
    const difference = value - (other[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Drops the pending requests of a pod. */
export const withoutRequests = (context: AdmissionContext, uid: string): AdmissionContext => ({
  ...context,
  waiting: drop(context.waiting, uid),
  refused: drop(context.refused, uid),
});

/** Explains why a pod with an undecided request is waiting. */
export function waitOf({ waiting, entries }: AdmissionContext, uid: string): string | undefined {
  const request = find(waiting, uid);
  if (request === undefined) return undefined;
  if (isLooking(request)) return 'the API server to return the labels of the node, because the known ones do not match';
  const before = named(entries, request.fullName).find((each) => each.holdsName && each.uid !== uid);
  return before === undefined
    ? 'other pods to terminate and to release the resources that it needs'
    : `the earlier pod of the same name, with UID ${before.uid}, to be removed`;
}

function occupants({ entries }: AdmissionContext, isOther: (uid: string) => boolean): Occupying[] {
  const occupying: Occupying[] = [];
  for (const { uid, allocated, desired, preempted } of entries) {
    if (allocated === null || !isOther(uid)) continue;
    occupying.push({
      uid,
      requests: allocated,
      currentRequests: desired ?? allocated,
      preempted,
      isLeaving: desired === null,
    });
  }
  return occupying;
}

interface Occupying extends Occupant {
  readonly preempted: boolean;
  readonly isLeaving: boolean;
}

/**
 * The decision on a request. A request has none as long as preempted pods have yet to release the resources that it
 * requires.
 */
export interface Step {
  readonly request: Request;
  readonly decision: Decision | Doubt;
}

/**
 * Returns the first request that can be decided. Requests that wait for resources reserve them against later requests.
 */
export function nextStep(context: AdmissionContext): Step | undefined {
  const ahead: Request[] = [];
  for (const request of context.waiting) {
    if (request.awaitsName) continue;
    const decision = isLooking(request) ? undefined : decisionOn(context, request, ahead);
    if (decision !== undefined) return { request, decision: orDoubt(context, request, decision) };
    ahead.push(request);
  }
  return undefined;
}

/**
 * Postpones a refusal for which the node's labels are the only reason, because another client may just have changed
 * them to make the pod fit.
 */
function orDoubt({ hasCluster }: AdmissionContext, { look }: Request, decision: Decision): Decision | Doubt {
  const isDoubted = hasCluster && look === undefined && decision.kind === 'refused' && decision.isByLabels;
  return isDoubted ? { kind: 'doubted' } : decision;
}

/**
 * Decides on a request, or returns undefined if it has to wait. Waiting requests that this request may preempt are
 * ignored, because they have no resources that they could release.
 */
function decisionOn(context: AdmissionContext, request: Request, ahead: readonly Request[]): Decision | undefined {
  if (request.adopted) return { kind: 'admitted' };
  const { requests } = request;
  const before = ahead.filter((each) => !isPreemptable(requests, each.requests));
  const others = occupants(context, (uid) => uid !== request.uid && !before.some((each) => each.uid === uid));
  const isUpdate = isOfAdmitted(context, request);
  // A new pod waits for resources of leaving pods instead of being refused. An update is refused, that is, deferred
  // while its pod runs.
  const staying = others.filter(({ preempted, isLeaving }) => !preempted && (isUpdate || !isLeaving));
  const node = { ...context.node, ...request.seen };
  const room = { ...context, node, occupants: staying, reserved: requestsOf(before) };
  const decision = isUpdate ? ofUpdate(decideUpdate(requests, room)) : decide(request, room);
  // Waiting would not help, because no other pod is about to release resources.
  if (decision.kind !== 'admitted' || staying.length === others.length) return decision;
  const all = [...requestsOf(others), ...room.reserved];
  return resourceConflict(requests, all, context.capacity) === undefined ? decision : undefined;
}

/** Returns the context that results from a step. */
export function afterStep(context: AdmissionContext, { request, decision }: Step): AdmissionContext {
  if (decision.kind === 'preempting') return { ...context, entries: preempted(context.entries, decision.uids) };
  if (decision.kind === 'doubted') return { ...context, waiting: put(context.waiting, { ...request, look: 'due' }) };
  const { uid } = request;
  const entry = entryOf(context, uid);
  if (entry === undefined) return context;
  const isUpdate = isOfAdmitted(context, request);
  const allocated = decision.kind === 'admitted' ? grantedTo(request, entry) : isUpdate ? entry.allocated : null;
  const waiting = drop(context.waiting, uid);
  const next = { ...entry, allocated, holdsName: allocated !== null };
  if (isUpdate && decision.kind !== 'admitted') {
    const deferral = entry.deferral ?? context.deferrals + 1;
    const deferrals = Math.max(context.deferrals, deferral);
    const left = withEntry({ ...context, waiting, deferrals }, { ...next, deferral });
    return { ...left, refused: put(left.refused, request) };
  }
  const left = withEntry({ ...context, waiting }, { ...next, deferral: undefined });
  return entry.allocated === null ? left : reopened(left, uid);
}

/** Returns the granted resources. A pod that is already running retains the resources that it was admitted with. */
const grantedTo = ({ adopted, requests }: Request, { allocated }: AdmissionEntry): PodRequests =>
  (adopted ? allocated : null) ?? requests;

/** Marks these entries as being preempted. */
const preempted = (entries: readonly AdmissionEntry[], uids: readonly string[]): AdmissionEntry[] =>
  entries.map((entry) => (uids.includes(entry.uid) ? { ...entry, preempted: true } : entry));

/**
 * Whether the request updates a pod that has already been admitted. A grant from before a restart of the agent reserves
 * resources for its pod, but the pod is decided on like a new one.
 */
function isOfAdmitted(context: AdmissionContext, { uid }: Request): boolean {
  const { holdsName = false, allocated = null } = entryOf(context, uid) ?? {};
  return holdsName && allocated !== null;
}

const requestsOf = (those: readonly { readonly requests: PodRequests }[]): PodRequests[] =>
  those.map(({ requests }) => requests);

/** Turns the refusal of an update into a pending resize, which is retried. */
const ofUpdate = (decision: Decision): Decision =>
  decision.kind === 'refused' ? { ...decision, ...pendingResize(decision) } : decision;
