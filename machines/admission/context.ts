/** The context of the admission machine and the choice of its next step. The chart is in chart.ts. */
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
   * Whether the node belongs to a cluster. Then others can change its labels before the node observes the change, and
   * the API server can be queried.
   */
  readonly hasCluster?: boolean;
}

export interface AdmissionEntry {
  readonly uid: string;
  readonly fullName: string;
  /** Null when the pod leaves because no source wants it, or because none of its containers will run again. */
  readonly desired: PodRequests | null;
  readonly allocated: PodRequests | null;
  /**
   * True from the pod's admission until it is completely removed. No other pod of the same full name starts meanwhile
   * (C24).
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
  /** Progress of reading the Node again, which is done if only the node's labels speak against the pod. */
  readonly look?: 'due' | 'asked' | 'done';
  /** Labels and taints that the API server returned for this request. */
  readonly seen?: Pick<AdmissionNode, 'labels' | 'taints'>;
}

type Doubt = { readonly kind: 'doubted' };

const isLooking = ({ look }: Request): boolean => look === 'due' || look === 'asked';

/** Whether a pod waits for the Node to be read again. */
export const hasDoubt = ({ waiting }: AdmissionContext): boolean => waiting.some(({ look }) => look === 'due');

/** Marks the requests that the read in flight is for. */
export const asking = (context: AdmissionContext): AdmissionContext =>
  looked(context, 'due', (request) => ({ ...request, look: 'asked' }));

/**
 * Marks the requests that the read was for as ready to decide, by the labels that it returned or, if it failed, by
 * those already known.
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
  /** At most one entry per UID, in order of arrival. */
  readonly entries: readonly AdmissionEntry[];
  /**
   * Requests that wait until an earlier pod of the same full name is gone (C24), or until preempted pods have released
   * their resources.
   */
  readonly waiting: readonly Request[];
  /** Updates of admitted pods for which there was no room. They are decided again whenever resources are released. */
  readonly refused: readonly Request[];
  /** The number of resizes deferred so far. */
  readonly deferrals: number;
}

export const entryOf = ({ entries }: Pick<AdmissionContext, 'entries'>, uid: string): AdmissionEntry | undefined =>
  find(entries, uid);

/** Replaces the entry with the same UID, or appends this one. */
export function withEntry(context: AdmissionContext, entry: AdmissionEntry): AdmissionContext {
  const before = entryOf(context, entry.uid);
  return withNames({ ...context, entries: put(context.entries, entry) }, before, entry);
}

/**
 * Whether a request is for the deferred resize of its pod. A request for what the pod already has withdraws the resize.
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

/** Updates only the requests for a name whose holder has changed. */
function withNames(context: AdmissionContext, before?: AdmissionEntry, after?: AdmissionEntry): AdmissionContext {
  const [freed, taken] = [before, after].map((entry) => (entry?.holdsName ? entry.fullName : undefined));
  if (freed === taken) return context;
  const renewed = (requests: readonly Request[]) =>
    [freed, taken]
      .flatMap((name) => (name === undefined ? [] : named(requests, name)))
      .reduce((all, each) => put(all, withName(context, each)), requests);
  return { ...context, waiting: renewed(context.waiting), refused: renewed(context.refused) };
}

/** Sets whether another pod holds the request's name at present. */
export function withName({ entries }: Pick<AdmissionContext, 'entries'>, request: Request): Request {
  const others = named(entries, request.fullName).filter(({ uid }) => uid !== request.uid);
  return { ...request, awaitsName: others.some(({ holdsName }) => holdsName) };
}

/**
 * Queues the refused updates of all pods but this one for another decision, because there may be room for them now.
 * They are decided in the order of `sortPendingResizes` in `pkg/kubelet/allocation/allocation_manager.go`: first
 * resizes that do not raise the requests, then by priority, then Guaranteed pods, then the resize that was deferred
 * first.
 */
export function reopened(context: AdmissionContext, uid = ''): AdmissionContext {
  const { waiting, refused } = withoutRequests(context, uid);
  const ranked = refused.map((request) => ({ request, rank: retryRank(context, request) }));
  ranked.sort((first, second) => compareRanks(first.rank, second.rank));
  return { ...context, waiting: ranked.map(({ request }) => request).reduce(put, waiting), refused: [] };
}

/** The sort key of a refused update, most significant component first. The lowest key is decided first. */
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

/** Explains what a pod with an undecided request waits for. */
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

/** The decision on a request. A request has none yet while preempted pods release the resources that it needs. */
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

/** Defers the refusal of a pod for labels alone, because the labels may just have been changed for that pod. */
function orDoubt({ hasCluster }: AdmissionContext, { look }: Request, decision: Decision): Decision | Doubt {
  const isDoubted = hasCluster && look === undefined && decision.kind === 'refused' && decision.isByLabels;
  return isDoubted ? { kind: 'doubted' } : decision;
}

/**
 * Decides on a request, or returns undefined if it has to wait. Waiting requests that this request may preempt are
 * ignored, because they hold nothing that they could release.
 */
function decisionOn(context: AdmissionContext, request: Request, ahead: readonly Request[]): Decision | undefined {
  if (request.adopted) return { kind: 'admitted' };
  const { requests } = request;
  const before = ahead.filter((each) => !isPreemptable(requests, each.requests));
  const others = occupants(context, (uid) => uid !== request.uid && !before.some((each) => each.uid === uid));
  const isUpdate = isOfAdmitted(context, request);
  // Resources of leaving pods do not refuse a pod, which waits for them. They do refuse an update, which is deferred
  // while its pod runs.
  const staying = others.filter(({ preempted, isLeaving }) => !preempted && (isUpdate || !isLeaving));
  const node = { ...context.node, ...request.seen };
  const room = { ...context, node, occupants: staying, reserved: requestsOf(before) };
  const decision = isUpdate ? ofUpdate(decideUpdate(requests, room)) : decide(request, room);
  // No pod is about to release anything.
  if (decision.kind !== 'admitted' || staying.length === others.length) return decision;
  const all = [...requestsOf(others), ...room.reserved];
  return resourceConflict(requests, all, context.capacity) === undefined ? decision : undefined;
}

/** Returns the context after a step. */
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

/** Returns the granted resources. A pod that already runs retains what it was admitted with. */
const grantedTo = ({ adopted, requests }: Request, { allocated }: AdmissionEntry): PodRequests =>
  (adopted ? allocated : null) ?? requests;

/** Marks these entries as being preempted. */
const preempted = (entries: readonly AdmissionEntry[], uids: readonly string[]): AdmissionEntry[] =>
  entries.map((entry) => (uids.includes(entry.uid) ? { ...entry, preempted: true } : entry));

/**
 * Whether the request updates a pod that was admitted already. A grant from before a restart of the agent reserves
 * resources for its pod, but the pod is decided on like a new one.
 */
function isOfAdmitted(context: AdmissionContext, { uid }: Request): boolean {
  const { holdsName = false, allocated = null } = entryOf(context, uid) ?? {};
  return holdsName && allocated !== null;
}

const requestsOf = (those: readonly { readonly requests: PodRequests }[]): PodRequests[] =>
  those.map(({ requests }) => requests);

/** Rewrites the refusal of an update as a pending resize, which is retried. */
const ofUpdate = (decision: Decision): Decision =>
  decision.kind === 'refused' ? { ...decision, ...pendingResize(decision) } : decision;
