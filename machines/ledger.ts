/**
 * The node's ledger: per pod what was admitted (allocated) and what the runtime has (actual); what is desired comes
 * with each request. All admission happens here, one pod at a time, in the order of arrival.
 */
import { assign, enqueueActions, setup } from 'xstate';
import { type Capacity, type Claims, conflicts } from '../pod/claims.ts';
import type { LedgerAnswer, LedgerEvent, Ref } from './events.ts';

export interface LedgerEntry {
  readonly uid: string;
  readonly fullName: string;
  /** Null when nobody wants it any more. */
  readonly desired: Claims | null;
  readonly allocated: Claims | null;
  readonly actual: Claims | null;
  /** From its admission until nothing of it is left: no other pod of its full name begins meanwhile (C24). */
  readonly holdsName: boolean;
}

interface Request {
  readonly uid: string;
  readonly fullName: string;
  readonly claims: Claims;
  readonly adopted: boolean;
  readonly holder: Ref<LedgerAnswer>;
}

export interface LedgerContext {
  readonly capacity: Capacity;
  /** Entries by uid, in the order of arrival. */
  readonly entries: Readonly<Record<string, LedgerEntry>>;
  /** Requests that wait for an earlier pod of the same full name to end (C24). */
  readonly waiting: readonly Request[];
  /** Updates of admitted pods that there was no room for: asked again whenever something gets free. */
  readonly refused: readonly Request[];
}

/** All requests but those of one pod. */
const without = (requests: readonly Request[], uid: string): Request[] => requests.filter((each) => each.uid !== uid);

/** Something got free by what this pod gave back: refused updates of the others are to be decided again. */
const reopened = ({ waiting, refused }: LedgerContext, uid: string): Pick<LedgerContext, 'waiting' | 'refused'> => ({
  waiting: [...without(waiting, uid), ...without(refused, uid)],
  refused: [],
});

const others = (context: LedgerContext, uid: string): Claims[] =>
  Object.values(context.entries).flatMap((entry) =>
    entry.uid !== uid && entry.allocated !== null ? [entry.allocated] : [],
  );

/** The pod that holds a full name at present, if it is another one. */
const nameHolder = (context: LedgerContext, uid: string, fullName: string): LedgerEntry | undefined =>
  Object.values(context.entries).find((entry) => entry.uid !== uid && entry.fullName === fullName && entry.holdsName);

function answer(context: LedgerContext, request: Request): LedgerAnswer {
  if (request.adopted) return { type: 'ledger.admitted' };
  const refusal = conflicts(request.claims, others(context, request.uid), context.capacity);
  return refusal === undefined ? { type: 'ledger.admitted' } : { type: 'ledger.refused', ...refusal };
}

export const ledgerMachine = setup({
  types: {
    input: {} as { capacity: Capacity },
    context: {} as LedgerContext,
    events: {} as LedgerEvent,
  },
  guards: {
    someoneCanProceed: ({ context }) =>
      context.waiting.some((request) => nameHolder(context, request.uid, request.fullName) === undefined),
  },
  actions: {
    desire: assign(({ context, event }) => {
      if (event.type !== 'ledger.admit') return {};
      const { uid, fullName, claims, allocated, adopted, holder } = event;
      const known = context.entries[uid];
      const entry: LedgerEntry = {
        uid,
        fullName,
        desired: claims,
        allocated: known?.allocated ?? allocated ?? null,
        actual: known?.actual ?? null,
        holdsName: known?.holdsName ?? false,
      };
      return {
        entries: { ...context.entries, [uid]: entry },
        waiting: [...without(context.waiting, uid), { uid, fullName, claims, adopted, holder }],
        refused: without(context.refused, uid),
      };
    }),
    enter: assign(({ context, event }) => {
      if (event.type !== 'ledger.enter') return {};
      const { uid, fullName, claims } = event;
      const known = context.entries[uid];
      const allocated = known?.allocated ?? claims;
      const entry = { uid, fullName, desired: null, allocated, actual: known?.actual ?? null, holdsName: true };
      return {
        entries: { ...context.entries, [uid]: entry },
        waiting: without(context.waiting, uid),
        refused: without(context.refused, uid),
      };
    }),
    decideNext: enqueueActions(({ context, enqueue }) => {
      const next = context.waiting.find((request) => nameHolder(context, request.uid, request.fullName) === undefined);
      const entry = next && context.entries[next.uid];
      if (next === undefined || entry === undefined) return;
      const decision = answer(context, next);
      const keeps = next.adopted && entry.allocated !== null;
      const allocated = decision.type === 'ledger.admitted' && !keeps ? next.claims : entry.allocated;
      const isAdmitted = decision.type === 'ledger.admitted';
      const isUpdate = entry.allocated !== null;
      enqueue.assign({
        entries: { ...context.entries, [next.uid]: { ...entry, allocated, holdsName: allocated !== null } },
        waiting: without(context.waiting, next.uid),
        ...(isUpdate && isAdmitted ? reopened(context, next.uid) : {}),
        ...(isUpdate && !isAdmitted ? { refused: [...context.refused, next] } : {}),
      });
      enqueue.sendTo(next.holder, decision);
    }),
    recordActual: assign(({ context, event }) => {
      const entry = event.type === 'ledger.actual' ? context.entries[event.uid] : undefined;
      if (event.type !== 'ledger.actual' || entry === undefined) return {};
      return { entries: { ...context.entries, [event.uid]: { ...entry, actual: event.claims } } };
    }),
    settle: assign(({ context, event }) => {
      const entry = context.entries[event.uid];
      if (entry === undefined) return {};
      return {
        entries: { ...context.entries, [event.uid]: { ...entry, allocated: null } },
        ...reopened(context, event.uid),
      };
    }),
    release: assign(({ context, event }) => {
      const { [event.uid]: _released, ...entries } = context.entries;
      return { entries, ...reopened(context, event.uid) };
    }),
  },
}).createMachine({
  id: 'ledger',
  context: ({ input }) => ({ capacity: input.capacity, entries: {}, waiting: [], refused: [] }),
  initial: 'open',
  on: {
    'ledger.admit': { actions: 'desire' },
    'ledger.enter': { actions: 'enter' },
    'ledger.actual': { actions: 'recordActual' },
    'ledger.settle': { actions: 'settle' },
    'ledger.release': { actions: 'release' },
  },
  states: {
    open: { always: { guard: 'someoneCanProceed', actions: 'decideNext', target: 'open', reenter: true } },
  },
});
