/** What admission knows, and what it does next. The chart is in chart.ts. */
import { type Decision, decide, decideUpdate } from '../../pod/admission/decide.ts';
import type { AdmissionNode } from '../../pod/admission/node.ts';
import { isPreemptable, type Occupant } from '../../pod/admission/preemption.ts';
import type { Pod } from '../../pod/api/schema/pod.ts';
import { type Capacity, conflicts, type PodRequests } from '../../pod/resources/requests.ts';
import { pendingResize } from '../../pod/resources/resize.ts';
import type { ActorPath } from '../shared/events.ts';

export interface AdmissionInput {
  readonly capacity: Capacity;
  readonly node: AdmissionNode;
}

export interface AdmissionEntry {
  readonly uid: string;
  readonly fullName: string;
  /** Null when nobody wants it any more. */
  readonly desired: PodRequests | null;
  readonly allocated: PodRequests | null;
  readonly actual: PodRequests | null;
  /** From its admission until nothing of it is left: no other pod of its full name begins meanwhile (C24). */
  readonly holdsName: boolean;
  /** It is being ended to make room for a critical pod (C24). */
  readonly preempted: boolean;
}

export interface Request {
  readonly uid: string;
  readonly fullName: string;
  readonly pod: Pod;
  readonly requests: PodRequests;
  readonly adopted: boolean;
  /** It had been admitted before a restart of the agent. */
  readonly known: boolean;
  /** Who is answered. */
  readonly holder: ActorPath;
}

export interface AdmissionContext extends AdmissionInput {
  /** One of each uid, in the order of arrival. */
  readonly entries: readonly AdmissionEntry[];
  /** Requests that wait for an earlier pod of the same full name to end (C24), or for the room that is being made. */
  readonly waiting: readonly Request[];
  /** Updates of admitted pods that there was no room for: asked again whenever something gets free. */
  readonly refused: readonly Request[];
}

export const entryOf = ({ entries }: Pick<AdmissionContext, 'entries'>, uid: string): AdmissionEntry | undefined =>
  entries.find((entry) => entry.uid === uid);

/** The entries with this one in the place of the one of its uid, or at the end. */
export const withEntry = (context: AdmissionContext, entry: AdmissionEntry): AdmissionEntry[] =>
  entryOf(context, entry.uid) === undefined
    ? [...context.entries, entry]
    : context.entries.map((each) => (each.uid === entry.uid ? entry : each));

/** All requests but those of one pod. */
export const without = (requests: readonly Request[], uid: string): Request[] =>
  requests.filter((each) => each.uid !== uid);

/** There may be room now, as by what this pod gave back: refused updates of the others are to be decided again. */
export const reopened = (
  { waiting, refused }: AdmissionContext,
  uid = '',
): Pick<AdmissionContext, 'waiting' | 'refused'> => ({
  waiting: [...without(waiting, uid), ...without(refused, uid)],
  refused: [],
});

/** Whether another pod holds a full name at present. */
const isNameHeld = (context: AdmissionContext, { uid, fullName }: Request): boolean =>
  context.entries.some((entry) => entry.uid !== uid && entry.fullName === fullName && entry.holdsName);

/** What other pods take: all of it, or without those that are ending to make room. */
function occupants({ entries }: AdmissionContext, uid: string, which: 'all' | 'staying'): Occupant[] {
  return entries.flatMap((entry) => {
    if (entry.uid === uid || entry.allocated === null || (which === 'staying' && entry.preempted)) return [];
    return [{ uid: entry.uid, requests: entry.allocated, wanted: entry.desired ?? entry.allocated }];
  });
}

const isAnybodyLeaving = ({ entries }: AdmissionContext): boolean => entries.some(({ preempted }) => preempted);

/** What comes of a request now; nothing yet while the room that it needs is being made. */
export interface Step {
  readonly request: Request;
  readonly decision: Decision;
}

/** The first request that can be decided; who waits for room before it keeps that room from those behind. */
export function nextStep(context: AdmissionContext): Step | undefined {
  const ahead: Request[] = [];
  for (const request of context.waiting) {
    if (isNameHeld(context, request)) continue;
    const decision = decisionOn(context, request, ahead);
    if (decision !== undefined) return { request, decision };
    ahead.push(request);
  }
  return undefined;
}

/** Who waits and takes nothing yet can not end for anybody: whom a request goes before, that one does not count for it. */
function decisionOn(context: AdmissionContext, request: Request, ahead: readonly Request[]): Decision | undefined {
  if (request.adopted) return { kind: 'admitted' };
  const { requests } = request;
  const reserved = ahead.filter((each) => !isPreemptable(requests, each.requests));
  const isReserved = ({ uid }: Occupant) => reserved.some((each) => each.uid === uid);
  const those = (which: 'all' | 'staying') =>
    occupants(context, request.uid, which).filter((each) => !isReserved(each));
  const held = (which: 'all' | 'staying') => [...requestsOf(those(which)), ...requestsOf(reserved)];
  const decision = isUpdate(context, request)
    ? ofUpdate(decideUpdate(requests, { ...context, occupants: those('staying'), reserved: requestsOf(reserved) }))
    : decide(request, { ...context, occupants: those('staying'), reserved: requestsOf(reserved) });
  // Nobody is ending to make room: all there are stay.
  if (decision.kind !== 'admitted' || !isAnybodyLeaving(context)) return decision;
  return conflicts(requests, held('all'), context.capacity) === undefined ? decision : undefined;
}

/** Whether a pod that was admitted already asks to be another. */
export const isUpdate = (context: AdmissionContext, { uid }: Request): boolean =>
  entryOf(context, uid)?.allocated != null;

const requestsOf = (those: readonly { readonly requests: PodRequests }[]): PodRequests[] =>
  those.map(({ requests }) => requests);

/** An update that there is no room for stays wanted. */
const ofUpdate = (decision: Decision): Decision =>
  decision.kind === 'refused' ? { ...decision, ...pendingResize(decision) } : decision;
