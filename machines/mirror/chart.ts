/**
 * Manages the mirror pod of a static pod, which makes the static pod visible on the API server under the same name. The
 * mirror pod is updated and removed with the static pod. If another client changes or deletes the mirror pod, the
 * static pod continues to run.
 */
import { assertEvent, assign, not, setup } from 'xstate';
import type { Failure } from '../../base/failure.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { isMirrorOf, type ObservedMirror } from '../../kubernetes/mirror.ts';
import { RARELY_TAKEN } from '../shared/coverageGaps.ts';
import { port, timerPort } from '../shared/ports.ts';
import type { StateMeta, StateTag } from '../shared/stateMeta.ts';
import { failureOf } from '../shared/waiting/failure.ts';
import { after, retryState } from '../shared/waiting/waits.ts';

/**
 * The node's data about the static pod and the mirror pod with a given name. The node sends all fields whenever any of
 * them changes.
 */
export interface MirrorFacts {
  /** The static pod to mirror. Null if no static pod has this name. */
  readonly pod: Pod | null;
  /** The mirror pod on the API server. Null if it does not exist. */
  readonly observedMirror: ObservedMirror | null;
  /**
   * Whether the mirror pod remains unchanged for now, because containers of this static pod are still running, or
   * because it is not known yet whether the static pod exists.
   */
  readonly isUpdateDeferred: boolean;
  /** UID of the Node object. Empty until the Node is registered, and while it is being deleted. */
  readonly nodeUid: string;
}

export type MirrorEvent = { type: 'mirror.changed'; facts: MirrorFacts } | { type: 'timer.elapsed' };

// A type alias rather than an interface, because generated declaration files can inline an alias but can refer to an
// interface only by name.
type MirrorInput = { readonly namespace: string; readonly name: string; readonly facts: MirrorFacts };

type MirrorContext = MirrorInput & {
  /** UID of the mirror pod that is being removed. */
  readonly removingUid: string;
  /** UID of the mirror pod that was removed last. The watch may still report that pod for a while. */
  readonly removedUid: string;
  readonly waitMs: number;
  readonly retryAt: number;
  readonly failure?: Failure | undefined;
};

/**
 * Initial delay in milliseconds between attempts to create or remove the mirror pod. It is long because the cause of a
 * refusal, e.g. a missing namespace or a quota, tends to persist. The kubelet retries every 60 s to 90 s.
 */
const INITIAL_RETRY_MS = 5_000;
const MAX_RETRY_MS = 60_000;
/**
 * Maximum wait in milliseconds for the watch to report a created mirror pod, which normally happens immediately. After
 * this time, the watch is assumed to be broken.
 */
const WATCH_LAG_MS = 60_000;

interface GuardArgs {
  readonly context: MirrorContext;
}

const currentMirror = ({ facts: { observedMirror }, removedUid }: MirrorContext): ObservedMirror | null =>
  observedMirror === null || observedMirror.uid === removedUid ? null : observedMirror;

/** Returns the static pod to mirror. Called only in states in which a static pod exists. */
function requireStaticPod({ facts: { pod } }: MirrorContext): Pod {
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
    isUpdateDeferred: ({ context }: GuardArgs) => context.facts.isUpdateDeferred,
    isMirrorObserved: ({ context }: GuardArgs) => currentMirror(context) !== null,
    /** Whether the mirror pod represents a different static pod or a different version of it, or is being deleted. */
    isMirrorOutdated: ({ context }: GuardArgs) => {
      const [mirror, { pod }] = [currentMirror(context), context.facts];
      return mirror !== null && (pod === null || !isMirrorOf(mirror, pod));
    },
    isNodeRegistered: ({ context }: GuardArgs) => context.facts.nodeUid !== '',
    isWanted: ({ context }: GuardArgs) => context.facts.pod !== null,
  },
  actions: {
    recordFacts: assign(({ event }) => {
      assertEvent(event, 'mirror.changed');
      return { facts: event.facts };
    }),
    resetRetries: assign({ failure: undefined, waitMs: INITIAL_RETRY_MS }),
    startRemoval: assign(({ context }) => ({ removingUid: currentMirror(context)?.uid ?? '' })),
    recordRemoved: assign(({ context: { removingUid } }) => ({ removedUid: removingUid })),
    recordFailure: assign(({ context: { waitMs }, event }) => {
      const failure = failureOf(event);
      return { failure, retryAt: failure.at + waitMs, waitMs: Math.min(waitMs * 2, MAX_RETRY_MS) };
    }),
  },
});

export const mirrorMachine = mirrorSetup.createMachine({
  id: 'mirror',
  description: 'The mirror pod by which the cluster sees a static pod.',
  context: ({ input }) => ({ ...input, removingUid: '', removedUid: '', waitMs: INITIAL_RETRY_MS, retryAt: 0 }),
  initial: 'deciding',
  on: { 'mirror.changed': { target: '.deciding', actions: 'recordFacts' } },
  states: {
    deciding: {
      description: 'The pod of this name at the API server is compared with the static pod on the node.',
      tags: 'working',
      always: [
        { guard: 'isUpdateDeferred', target: 'deferred' },
        { guard: 'isMirrorOutdated', target: 'removing' },
        { guard: 'isMirrorObserved', target: 'current' },
        { guard: not('isWanted'), target: 'removed', meta: { coverageGap: RARELY_TAKEN } },
        { guard: 'isNodeRegistered', target: 'creating' },
        { target: 'awaitingNode' },
      ],
    },
    deferred: {
      description:
        'The mirror pod is left as it is for now, because its static pod still terminates, or not every source has listed its pods.',
      tags: 'waiting',
      meta: { waitsFor: 'the static pod of this name to terminate' },
    },
    awaitingNode: {
      description: 'The mirror pod belongs to the Node object, which does not exist yet.',
      tags: 'waiting',
      meta: { waitsFor: 'the node to be registered' },
    },
    creating: {
      description: 'The mirror pod is created at the API server.',
      tags: 'working',
      meta: { waitsFor: 'the mirror pod to be created' },
      invoke: {
        src: 'createMirror',
        input: ({ context }) => ({ pod: requireStaticPod(context), nodeUid: context.facts.nodeUid }),
        onDone: { target: 'awaitingWatch', actions: 'resetRetries' },
        onError: { target: 'awaitingRetry', actions: 'recordFailure' },
      },
      // Only record the change, because the result of the call in flight is awaited first.
      on: { 'mirror.changed': { actions: 'recordFacts' } },
    },
    awaitingWatch: {
      description: 'The mirror pod has been created. It counts once the watch of pods shows it.',
      tags: 'waiting',
      meta: { waitsFor: 'the watch of pods to show the mirror pod', afterMs: WATCH_LAG_MS },
      invoke: after(WATCH_LAG_MS),
      always: { guard: 'isMirrorObserved', target: 'deciding' },
      // Only record changes. A second create request would be refused, and the mirror pod cannot be removed before the
      // watch has reported its UID.
      on: {
        'timer.elapsed': { target: 'deciding', meta: { coverageGap: RARELY_TAKEN } },
        'mirror.changed': { actions: 'recordFacts', meta: { coverageGap: RARELY_TAKEN } },
      },
    },
    current: { description: 'The API server shows the static pod as it is.', tags: 'steady' },
    removing: {
      description:
        'The mirror pod is deleted at once, because it has a different version, is being deleted, or has no static pod.',
      tags: 'working',
      meta: { waitsFor: 'the mirror pod to be removed' },
      entry: 'startRemoval',
      invoke: {
        src: 'removeMirror',
        input: ({ context: { namespace, name, removingUid } }) => ({ namespace, name, uid: removingUid }),
        onDone: { target: 'deciding', actions: ['resetRetries', 'recordRemoved'] },
        onError: { target: 'awaitingRetry', actions: 'recordFailure', meta: { coverageGap: RARELY_TAKEN } },
      },
      on: { 'mirror.changed': { actions: 'recordFacts' } },
    },
    removed: {
      description:
        'No static pod and no mirror pod has this name any longer. The node stops the actor once the watch shows that.',
      tags: 'done',
    },
    awaitingRetry: retryState('deciding', {
      description:
        'The API server has refused, or is unreachable. Another attempt follows after a delay that grows up to a minute; the static pod continues to run.',
      waitsFor: 'another attempt to bring the mirror pod up to date',
      withinMs: MAX_RETRY_MS,
    }),
  },
});
