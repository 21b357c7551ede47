/**
 * Admission to the node: per pod what was admitted (allocated) and what the runtime has (actual); what is desired comes
 * with each request. All admission happens here, one pod at a time, in the order of arrival.
 */
import { assign, enqueueActions, setup } from 'xstate';
import { namespacedName } from '../../pod/show/shownName.ts';
import { actorAt, parent } from '../shared/actorRefs.ts';
import type { AdmissionAnswer, AdmissionEvent, AdmissionFact } from '../shared/events.ts';
import type { Seen, StateMeta, StateTag } from '../shared/stateMeta.ts';
import {
  type AdmissionContext,
  type AdmissionEntry,
  type AdmissionInput,
  entryOf,
  isUpdate,
  nextStep,
  type Request,
  reopened,
  withEntry,
  without,
} from './context.ts';

/** The entries, with these marked as ending for others. */
function markPreempted(entries: AdmissionContext['entries'], uids: readonly string[]): AdmissionContext['entries'] {
  return entries.map((entry) => (uids.includes(entry.uid) ? { ...entry, preempted: true } : entry));
}

const namesOf = (requests: readonly Request[]): string[] => requests.map(({ pod }) => namespacedName(pod));

/** Who was admitted is a number; who waits for a decision, or was refused an update, is named. */
const facts = ({ snapshot: { context } }: Seen<AdmissionContext>) => ({
  facts: [`${context.entries.filter(({ allocated }) => allocated !== null).length} admitted`],
  lists: { queued: namesOf(context.waiting), 'updates without room': namesOf(context.refused) },
});

export const admissionMachine = setup({
  types: {
    input: {} as AdmissionInput,
    context: {} as AdmissionContext,
    events: {} as AdmissionEvent,
    meta: {} as StateMeta,
    tags: {} as StateTag,
  },
  guards: {
    someoneCanProceed: ({ context }) => nextStep(context) !== undefined,
  },
  actions: {
    desire: assign(({ context, event }) => {
      if (event.type !== 'admission.request') return {};
      const { uid, fullName, pod, requests, allocated, adopted, holder } = event;
      const known = entryOf(context, uid);
      const entry: AdmissionEntry = {
        uid,
        fullName,
        desired: requests,
        allocated: known?.allocated ?? allocated ?? null,
        actual: known?.actual ?? null,
        holdsName: known?.holdsName ?? false,
        preempted: false,
      };
      const request = { uid, fullName, pod, requests, adopted, known: allocated !== undefined, holder };
      return {
        entries: withEntry(context, entry),
        waiting: [...without(context.waiting, uid), request],
        refused: without(context.refused, uid),
      };
    }),
    enter: assign(({ context, event }) => {
      if (event.type !== 'admission.addEnding') return {};
      const { uid, fullName, requests } = event;
      const known = entryOf(context, uid);
      const allocated = known?.allocated ?? requests;
      const entry = { uid, fullName, desired: null, allocated, actual: known?.actual ?? null, holdsName: true };
      return {
        entries: withEntry(context, { ...entry, preempted: false }),
        waiting: without(context.waiting, uid),
        refused: without(context.refused, uid),
      };
    }),
    decideNext: enqueueActions(({ context, enqueue, self }) => {
      const { request, decision } = nextStep(context) ?? {};
      const entry = request && entryOf(context, request.uid);
      if (request === undefined || decision === undefined || entry === undefined) return;
      if (decision.kind === 'preempting') {
        enqueue.assign({ entries: markPreempted(context.entries, decision.uids) });
        enqueue.sendTo(parent<AdmissionFact>(), { type: 'admission.preempting', uids: decision.uids });
        return;
      }
      const isAdmitted = decision.kind === 'admitted';
      const keeps = request.adopted && entry.allocated !== null;
      const allocated = isAdmitted && !keeps ? request.requests : entry.allocated;
      const asks = isUpdate(context, request);
      enqueue.assign({
        entries: withEntry(context, { ...entry, allocated, holdsName: allocated !== null }),
        waiting: without(context.waiting, request.uid),
        ...(asks && isAdmitted ? reopened(context, request.uid) : {}),
        ...(asks && !isAdmitted ? { refused: [...context.refused, request] } : {}),
      });
      const holder = actorAt<AdmissionAnswer>(self, request.holder);
      if (holder === undefined) return;
      if (isAdmitted) enqueue.sendTo(holder, { type: 'admission.admitted' });
      else {
        const { kind: _, ...refusal } = decision;
        enqueue.sendTo(holder, { type: 'admission.refused', ...refusal });
      }
    }),
    recordActual: assign(({ context, event }) => {
      const entry = event.type === 'admission.actual' ? entryOf(context, event.uid) : undefined;
      if (event.type !== 'admission.actual' || entry === undefined) return {};
      return { entries: withEntry(context, { ...entry, actual: event.requests }) };
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
    recordNode: assign(({ context, event }) => {
      if (event.type !== 'admission.nodeChanged') return {};
      const { capacity = context.capacity, node } = event;
      return { capacity, node: { ...context.node, ...node }, ...reopened(context) };
    }),
    release: assign(({ context, event }) => {
      if (!('uid' in event)) return {};
      const entries = context.entries.filter(({ uid }) => uid !== event.uid);
      return { entries, ...reopened(context, event.uid) };
    }),
  },
}).createMachine({
  id: 'admission',
  description: 'Admission of the node: it admits pods, one at a time, in the order of their arrival.',
  meta: { facts },
  context: ({ input }) => ({ ...input, entries: [], waiting: [], refused: [] }),
  initial: 'open',
  on: {
    'admission.request': { actions: 'desire' },
    'admission.addEnding': { actions: 'enter' },
    'admission.actual': { actions: 'recordActual' },
    'admission.settle': { actions: 'settle' },
    'admission.release': { actions: 'release' },
    'admission.nodeChanged': { actions: 'recordNode' },
  },
  states: {
    open: {
      tags: 'steady',
      always: { guard: 'someoneCanProceed', actions: 'decideNext', target: 'open', reenter: true },
    },
  },
});
