/**
 * The mirror of a static pod: the pod of its name at the API server, by which the cluster sees what the node runs by itself.
 * It is kept like the static pod, and goes with it; whatever becomes of it, the static pod runs on.
 */
import { assign, not, setup } from 'xstate';
import type { Failure } from '../../base/failure.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { isMirrorOf, type ObservedMirror } from '../../kubernetes/mirror.ts';
import { failureOf } from '../shared/failure.ts';
import { port, timerPort } from '../shared/ports.ts';
import type { StateMeta, StateTag } from '../shared/stateMeta.ts';

/** What the node knows of one name: all of it, whenever any of it changes. */
export interface MirrorFacts {
  /** The static pod that is to be seen; null: none is. */
  readonly pod: Pod | null;
  /** The mirror as the server has it; null: it has none. */
  readonly seen: ObservedMirror | null;
  /** The server's is left as it is, for now: of the static pod of this name something still runs, or nobody knows yet whether there is one. */
  readonly isHeld: boolean;
  /** UID of the Node object. Empty until the Node is registered, and while it is being deleted. */
  readonly nodeUid: string;
}

export type MirrorEvent = { type: 'mirror.changed'; facts: MirrorFacts } | { type: 'timer.elapsed' };

// Not an interface: the types of the package would have to name it.
type MirrorInput = { readonly namespace: string; readonly name: string; readonly facts: MirrorFacts };

type MirrorContext = MirrorInput & {
  /** The UIDs of the one that is being removed, and of the one that was: for a while the watch may still show it. */
  readonly removing: string;
  readonly removed: string;
  readonly waitMs: number;
  readonly retryAt: number;
  readonly failure?: Failure | undefined;
};

/** A refusal, as for a namespace that is missing or a quota, lasts: a kubelet tries again every 60 s to 90 s. */
const FIRST_WAIT_MS = 5_000;
const LONGEST_WAIT_MS = 60_000;
/** A mirror that was made shows in the watch at once, or something is wrong with that. */
const SIGHT_MS = 60_000;

interface Args {
  readonly context: MirrorContext;
}

const seenNow = ({ facts: { seen }, removed }: MirrorContext): ObservedMirror | null =>
  seen === null || seen.uid === removed ? null : seen;

/** Of which pod a mirror is made: only where there is one. */
function podOf({ facts: { pod } }: MirrorContext): Pod {
  if (pod === null) throw new Error('there is no static pod to make a mirror of');
  return pod;
}

const mirrorSetup = setup({
  types: {
    input: {} as MirrorInput,
    context: {} as MirrorContext,
    events: {} as MirrorEvent,
    meta: {} as StateMeta,
    tags: {} as StateTag,
  },
  actors: { createMirror: port('createMirror'), removeMirror: port('removeMirror'), timer: timerPort() },
  guards: {
    isHeld: ({ context }: Args) => context.facts.isHeld,
    isSeen: ({ context }: Args) => seenNow(context) !== null,
    /** It is another's, or of another version of the pod, or is being deleted. */
    isWrong: ({ context }: Args) => {
      const [seen, { pod }] = [seenNow(context), context.facts];
      return seen !== null && (pod === null || !isMirrorOf(seen, pod));
    },
    hasNode: ({ context }: Args) => context.facts.nodeUid !== '',
    isWanted: ({ context }: Args) => context.facts.pod !== null,
  },
  actions: {
    record: assign(({ event }) => (event.type === 'mirror.changed' ? { facts: event.facts } : {})),
    recordDone: assign({ failure: undefined, waitMs: FIRST_WAIT_MS }),
    beginRemoval: assign(({ context }) => ({ removing: seenNow(context)?.uid ?? '' })),
    recordRemoved: assign(({ context: { removing } }) => ({ removed: removing })),
    recordFailure: assign(({ context: { waitMs }, event }) => {
      const failure = failureOf(event);
      return { failure, retryAt: failure.at + waitMs, waitMs: Math.min(waitMs * 2, LONGEST_WAIT_MS) };
    }),
  },
});

export const mirrorMachine = mirrorSetup.createMachine({
  id: 'mirror',
  description: 'The mirror pod by which the cluster sees a static pod.',
  context: ({ input }) => ({ ...input, removing: '', removed: '', waitMs: FIRST_WAIT_MS, retryAt: 0 }),
  initial: 'deciding',
  on: { 'mirror.changed': { target: '.deciding', actions: 'record' } },
  states: {
    /** What follows from what is known now. */
    deciding: {
      tags: 'working',
      always: [
        { guard: 'isHeld', target: 'held' },
        { guard: 'isWrong', target: 'removing' },
        { guard: 'isSeen', target: 'current' },
        { guard: not('isWanted'), target: 'removed' },
        { guard: 'hasNode', target: 'creating' },
        { target: 'awaitingNode' },
      ],
    },
    held: { tags: 'waiting', meta: { waitsFor: 'the static pod of this name to end' } },
    awaitingNode: { tags: 'waiting', meta: { waitsFor: 'the node to be registered' } },
    creating: {
      tags: 'working',
      meta: { waitsFor: 'the mirror pod to be created' },
      invoke: {
        src: 'createMirror',
        input: ({ context }) => ({ pod: podOf(context), nodeUid: context.facts.nodeUid }),
        onDone: { target: 'awaitingSight', actions: 'recordDone' },
        onError: { target: 'awaitingRetry', actions: 'recordFailure' },
      },
      // What was asked for comes back first.
      on: { 'mirror.changed': { actions: 'record' } },
    },
    awaitingSight: {
      tags: 'waiting',
      meta: { waitsFor: 'the watch of pods to show the mirror pod', afterMs: SIGHT_MS },
      invoke: { src: 'timer', input: { after: SIGHT_MS } },
      always: { guard: 'isSeen', target: 'deciding' },
      // Whatever else changes, what was made is there: to make it again would be refused, and without its UID none goes.
      on: { 'timer.elapsed': 'deciding', 'mirror.changed': { actions: 'record' } },
    },
    current: { tags: 'steady' },
    removing: {
      tags: 'working',
      meta: { waitsFor: 'the mirror pod to be removed' },
      entry: 'beginRemoval',
      invoke: {
        src: 'removeMirror',
        input: ({ context: { namespace, name, removing } }) => ({ namespace, name, uid: removing }),
        onDone: { target: 'deciding', actions: ['recordDone', 'recordRemoved'] },
        onError: { target: 'awaitingRetry', actions: 'recordFailure' },
      },
      on: { 'mirror.changed': { actions: 'record' } },
    },
    /** The node lets it go as soon as the watch shows no mirror of this name either. */
    removed: { tags: 'done' },
    awaitingRetry: {
      tags: 'retrying',
      meta: { waitsFor: 'another attempt to bring the mirror pod up to date', until: 'retryAt' },
      invoke: { src: 'timer', input: ({ context }) => ({ until: context.retryAt, within: LONGEST_WAIT_MS }) },
      on: { 'timer.elapsed': 'deciding' },
    },
  },
});
