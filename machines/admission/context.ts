/** What admission knows, and what it does next. The chart is in chart.ts. */
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
  /** Others can change the labels of the node before it hears of that, and the API server can be asked. */
  readonly hasCluster?: boolean;
}

export interface AdmissionEntry {
  readonly uid: string;
  readonly fullName: string;
  /** Null when the pod leaves: no source wants it any more, or nothing of it will run any more. */
  readonly desired: PodRequests | null;
  readonly allocated: PodRequests | null;
  /** From its admission until nothing of it is left: no other pod of its full name begins meanwhile (C24). */
  readonly holdsName: boolean;
  /** It is being ended to make room for a critical pod (C24). */
  readonly preempted: boolean;
  /** The number of its deferred resize in the order in which resizes were first deferred. Undefined if none is deferred. */
  readonly deferral?: number | undefined;
}

export interface Request {
  readonly uid: string;
  readonly fullName: string;
  readonly pod: Pod;
  readonly requests: PodRequests;
  readonly adopted: boolean;
  /** It had been admitted before a restart of the agent. */
  readonly known: boolean;
  /** Another pod holds its full name: it is not decided before that one is gone (C24). */
  readonly awaitsName: boolean;
  /** Who is answered. */
  readonly holder: ActorPath;
  /** Whether the API server is to be asked for the Node, because only its labels speak against the pod. */
  readonly look?: 'due' | 'asked' | 'done';
  /** What it said. */
  readonly seen?: Pick<AdmissionNode, 'labels' | 'taints'>;
}

type Doubt = { readonly kind: 'doubted' };

const isLooking = ({ look }: Request): boolean => look === 'due' || look === 'asked';

/** Whether a pod waits for the API server to be asked. */
export const hasDoubt = ({ waiting }: AdmissionContext): boolean => waiting.some(({ look }) => look === 'due');

/** Those for which it is asked from now on. */
export const asking = (context: AdmissionContext): AdmissionContext =>
  looked(context, 'due', (request) => ({ ...request, look: 'asked' }));

/** Those for which it was asked are decided by what it has said; without an answer by what was known. */
export const answered = (context: AdmissionContext, seen?: Request['seen']): AdmissionContext =>
  looked(context, 'asked', (request) => ({ ...request, look: 'done', ...(seen ? { seen } : {}) }));

const looked = (context: AdmissionContext, at: Request['look'], next: (request: Request) => Request) => ({
  ...context,
  waiting: context.waiting
    .filter(({ look }) => look === at)
    .reduce((all, each) => put(all, next(each)), context.waiting),
});

export interface AdmissionContext extends AdmissionInput {
  /** One of each uid, in the order of arrival. */
  readonly entries: readonly AdmissionEntry[];
  /** Requests that wait for an earlier pod of the same full name to end (C24), or for the room that is being made. */
  readonly waiting: readonly Request[];
  /** Updates of admitted pods that there was no room for. They are decided again whenever resources are released. */
  readonly refused: readonly Request[];
  /** The number of resizes that were deferred so far. */
  readonly deferrals: number;
}

export const entryOf = ({ entries }: Pick<AdmissionContext, 'entries'>, uid: string): AdmissionEntry | undefined =>
  find(entries, uid);

/** With this entry in the place of the one of its uid, or at the end. */
export function withEntry(context: AdmissionContext, entry: AdmissionEntry): AdmissionContext {
  const before = entryOf(context, entry.uid);
  return withNames({ ...context, entries: put(context.entries, entry) }, before, entry);
}

/** Whether a request is for the resize of its pod that was deferred. A request for what the pod has withdraws the resize. */
export function hasDeferredResize(context: AdmissionContext, { uid, requests }: Request): boolean {
  const { allocated, deferral } = entryOf(context, uid) ?? {};
  if (deferral === undefined || !allocated) return false;
  return requests.cpuMillis !== allocated.cpuMillis || requests.memoryBytes !== allocated.memoryBytes;
}

/** Without what a pod had: its name is free for the next. */
export function withoutEntry(context: AdmissionContext, uid: string): AdmissionContext {
  const before = entryOf(context, uid);
  return withNames({ ...context, entries: drop(context.entries, uid) }, before);
}

/** Only requests for a name that has another holder now are looked at again. */
function withNames(context: AdmissionContext, before?: AdmissionEntry, after?: AdmissionEntry): AdmissionContext {
  const [freed, taken] = [before, after].map((entry) => (entry?.holdsName ? entry.fullName : undefined));
  if (freed === taken) return context;
  const renewed = (requests: readonly Request[]) =>
    [freed, taken]
      .flatMap((name) => (name === undefined ? [] : named(requests, name)))
      .reduce((all, each) => put(all, withName(context, each)), requests);
  return { ...context, waiting: renewed(context.waiting), refused: renewed(context.refused) };
}

/** A request that says whether another pod holds its name at present. */
export function withName({ entries }: Pick<AdmissionContext, 'entries'>, request: Request): Request {
  const others = named(entries, request.fullName).filter(({ uid }) => uid !== request.uid);
  return { ...request, awaitsName: others.some(({ holdsName }) => holdsName) };
}

/**
 * Queues the refused updates of all pods but this one for another decision, because there may be room for them now. They are
 * decided in the order of `sortPendingResizes` in `pkg/kubelet/allocation/allocation_manager.go`: first resizes that do not
 * raise the requests, then by priority, then Guaranteed pods, then what was deferred first.
 */
export function reopened(context: AdmissionContext, uid = ''): AdmissionContext {
  const { waiting, refused } = withoutRequests(context, uid);
  const ranked = refused.map((request) => ({ request, rank: retryRank(context, request) }));
  ranked.sort((one, other) => compareRanks(one.rank, other.rank));
  return { ...context, waiting: ranked.map(({ request }) => request).reduce(put, waiting), refused: [] };
}

/** The place of a refused update among others, most significant first. The lowest goes first. */
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

/** Without what a pod has asked so far. */
export const withoutRequests = (context: AdmissionContext, uid: string): AdmissionContext => ({
  ...context,
  waiting: drop(context.waiting, uid),
  refused: drop(context.refused, uid),
});

/** What a pod waits for whose request has yet to be decided. */
export function waitOf({ waiting, entries }: AdmissionContext, uid: string): string | undefined {
  const request = find(waiting, uid);
  if (request === undefined) return undefined;
  if (isLooking(request)) return 'the API server to tell the labels of the node, which do not fit';
  const before = named(entries, request.fullName).find((each) => each.holdsName && each.uid !== uid);
  return before === undefined
    ? 'other pods to terminate and to release the resources that it needs'
    : `the earlier pod of the same name, with UID ${before.uid}, to be removed`;
}

/** What other pods take. */
function occupants({ entries }: AdmissionContext, isOther: (uid: string) => boolean): Occupying[] {
  const found: Occupying[] = [];
  for (const { uid, allocated, desired, preempted } of entries) {
    if (allocated === null || !isOther(uid)) continue;
    found.push({
      uid,
      requests: allocated,
      currentRequests: desired ?? allocated,
      preempted,
      isLeaving: desired === null,
    });
  }
  return found;
}

interface Occupying extends Occupant {
  readonly preempted: boolean;
  readonly isLeaving: boolean;
}

/** What comes of a request now; nothing yet while the room that it needs is being made. */
export interface Step {
  readonly request: Request;
  readonly decision: Decision | Doubt;
}

/** The first request that can be decided; who waits for room before it keeps that room from those behind. */
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

/** A pod that others have just made the node fit for is not refused because the node has yet to hear of that. */
function orDoubt({ hasCluster }: AdmissionContext, { look }: Request, decision: Decision): Decision | Doubt {
  const isDoubted = hasCluster && look === undefined && decision.kind === 'refused' && decision.isByLabels;
  return isDoubted ? { kind: 'doubted' } : decision;
}

/** Who waits and takes nothing yet can not end for anybody: whom a request goes before, that one does not count for it. */
function decisionOn(context: AdmissionContext, request: Request, ahead: readonly Request[]): Decision | undefined {
  if (request.adopted) return { kind: 'admitted' };
  const { requests } = request;
  const before = ahead.filter((each) => !isPreemptable(requests, each.requests));
  const others = occupants(context, (uid) => uid !== request.uid && !before.some((each) => each.uid === uid));
  const isUpdate = isOfAdmitted(context, request);
  // A pod is not refused for what leaving pods hold. An update is: it is deferred, and its pod runs meanwhile.
  const staying = others.filter(({ preempted, isLeaving }) => !preempted && (isUpdate || !isLeaving));
  const node = { ...context.node, ...request.seen };
  const room = { ...context, node, occupants: staying, reserved: requestsOf(before) };
  const decision = isUpdate ? ofUpdate(decideUpdate(requests, room)) : decide(request, room);
  // No pod is about to release anything.
  if (decision.kind !== 'admitted' || staying.length === others.length) return decision;
  const all = [...requestsOf(others), ...room.reserved];
  return resourceConflict(requests, all, context.capacity) === undefined ? decision : undefined;
}

/** What is known when a step is taken. */
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

/** One that runs already keeps what it was admitted with. */
const grantedTo = ({ adopted, requests }: Request, { allocated }: AdmissionEntry): PodRequests =>
  (adopted ? allocated : null) ?? requests;

/** The entries, with these marked as ending for others. */
const preempted = (entries: readonly AdmissionEntry[], uids: readonly string[]): AdmissionEntry[] =>
  entries.map((entry) => (uids.includes(entry.uid) ? { ...entry, preempted: true } : entry));

/**
 * Whether a pod that was admitted already asks to be another. What it was granted before a restart of the agent keeps room
 * for it, but it is decided once more as any other.
 */
function isOfAdmitted(context: AdmissionContext, { uid }: Request): boolean {
  const { holdsName = false, allocated = null } = entryOf(context, uid) ?? {};
  return holdsName && allocated !== null;
}

const requestsOf = (those: readonly { readonly requests: PodRequests }[]): PodRequests[] =>
  those.map(({ requests }) => requests);

/** An update that there is no room for stays wanted. */
const ofUpdate = (decision: Decision): Decision =>
  decision.kind === 'refused' ? { ...decision, ...pendingResize(decision) } : decision;
