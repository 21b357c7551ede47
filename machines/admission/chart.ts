/**
 * The node's ledger: per pod what was admitted (allocated) and what the runtime has (actual); what is desired comes
 * with each request. All admission happens here, one pod at a time, in the order of arrival.
 */
import { assign, enqueueActions, setup } from 'xstate';
import type { LedgerEvent } from '../shared/events.ts';
import {
  entryOf,
  isUpdate,
  type LedgerContext,
  type LedgerEntry,
  type LedgerInput,
  nextStep,
  reopened,
  withEntry,
  without,
} from './context.ts';

/** The entries, with these marked as ending for others. */
function markPreempted(entries: LedgerContext['entries'], uids: readonly string[]): LedgerContext['entries'] {
  return entries.map((entry) => (uids.includes(entry.uid) ? { ...entry, preempted: true } : entry));
}

export const ledgerMachine = setup({
  types: {
    input: {} as LedgerInput,
    context: {} as LedgerContext,
    events: {} as LedgerEvent,
  },
  guards: {
    someoneCanProceed: ({ context }) => nextStep(context) !== undefined,
  },
  actions: {
    desire: assign(({ context, event }) => {
      if (event.type !== 'ledger.admit') return {};
      const { uid, fullName, pod, claims, allocated, adopted, holder } = event;
      const known = entryOf(context, uid);
      const entry: LedgerEntry = {
        uid,
        fullName,
        desired: claims,
        allocated: known?.allocated ?? allocated ?? null,
        actual: known?.actual ?? null,
        holdsName: known?.holdsName ?? false,
        preempted: false,
      };
      const request = { uid, fullName, pod, claims, adopted, known: allocated !== undefined, holder };
      return {
        entries: withEntry(context, entry),
        waiting: [...without(context.waiting, uid), request],
        refused: without(context.refused, uid),
      };
    }),
    enter: assign(({ context, event }) => {
      if (event.type !== 'ledger.enter') return {};
      const { uid, fullName, claims } = event;
      const known = entryOf(context, uid);
      const allocated = known?.allocated ?? claims;
      const entry = { uid, fullName, desired: null, allocated, actual: known?.actual ?? null, holdsName: true };
      return {
        entries: withEntry(context, { ...entry, preempted: false }),
        waiting: without(context.waiting, uid),
        refused: without(context.refused, uid),
      };
    }),
    decideNext: enqueueActions(({ context, enqueue }) => {
      const { request, decision } = nextStep(context) ?? {};
      const entry = request && entryOf(context, request.uid);
      if (request === undefined || decision === undefined || entry === undefined) return;
      if (decision.kind === 'preempting') {
        enqueue.assign({ entries: markPreempted(context.entries, decision.uids) });
        enqueue.sendTo(context.parent, { type: 'ledger.preempting', uids: decision.uids });
        return;
      }
      const isAdmitted = decision.kind === 'admitted';
      const keeps = request.adopted && entry.allocated !== null;
      const allocated = isAdmitted && !keeps ? request.claims : entry.allocated;
      const asks = isUpdate(context, request);
      enqueue.assign({
        entries: withEntry(context, { ...entry, allocated, holdsName: allocated !== null }),
        waiting: without(context.waiting, request.uid),
        ...(asks && isAdmitted ? reopened(context, request.uid) : {}),
        ...(asks && !isAdmitted ? { refused: [...context.refused, request] } : {}),
      });
      if (isAdmitted) enqueue.sendTo(request.holder, { type: 'ledger.admitted' });
      else {
        const { kind: _, ...refusal } = decision;
        enqueue.sendTo(request.holder, { type: 'ledger.refused', ...refusal });
      }
    }),
    recordActual: assign(({ context, event }) => {
      const entry = event.type === 'ledger.actual' ? entryOf(context, event.uid) : undefined;
      if (event.type !== 'ledger.actual' || entry === undefined) return {};
      return { entries: withEntry(context, { ...entry, actual: event.claims }) };
    }),
    settle: assign(({ context, event }) => {
      if (!('uid' in event)) return {};
      const entry = entryOf(context, event.uid);
      if (entry === undefined) return {};
      return {
        entries: withEntry(context, { ...entry, allocated: null, preempted: false }),
        ...reopened(context, event.uid),
      };
    }),
    recordRuntime: assign(({ context, event }) =>
      event.type === 'ledger.runtimeSeen' ? { node: { ...context.node, strictGroups: event.strictGroups } } : {},
    ),
    release: assign(({ context, event }) => {
      if (!('uid' in event)) return {};
      const entries = context.entries.filter(({ uid }) => uid !== event.uid);
      return { entries, ...reopened(context, event.uid) };
    }),
  },
}).createMachine({
  id: 'ledger',
  context: ({ input }) => ({ ...input, entries: [], waiting: [], refused: [] }),
  initial: 'open',
  on: {
    'ledger.admit': { actions: 'desire' },
    'ledger.enter': { actions: 'enter' },
    'ledger.actual': { actions: 'recordActual' },
    'ledger.settle': { actions: 'settle' },
    'ledger.release': { actions: 'release' },
    'ledger.runtimeSeen': { actions: 'recordRuntime' },
  },
  states: {
    open: { always: { guard: 'someoneCanProceed', actions: 'decideNext', target: 'open', reenter: true } },
  },
});
