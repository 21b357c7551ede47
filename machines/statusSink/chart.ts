/**
 * Sends the latest status of each pod to a sink, one at a time per pod. A rejected status is retried after a while, or
 * replaced by the pod's next status. It blocks neither other pods nor other sinks. If each status is expensive for the
 * sink, changes to which no other component reacts wait a little, because they can often be combined with the next
 * change.
 */
import { assertEvent, enqueueActions, not, setup } from 'xstate';
import type { Failure } from '../../base/failure.ts';
import type { StatusSinkEvent } from '../shared/events.ts';
import { failureOf } from '../shared/failure.ts';
import { port, timerPort } from '../shared/ports.ts';
import type { Seen, StateMeta, StateTag } from '../shared/stateMeta.ts';
import { RARE } from '../shared/unreached.ts';

/**
 * Maximum number of statuses sent concurrently. A kubelet sends one at a time, so a slow response delays all pods. With
 * this limit, seven statuses that hang until their timeout of 10 s leave a slot for the others, and the burst of a
 * whole node is spread out.
 */
const MAX_CONCURRENT = 8;

/** The interval at which a kubelet retries unsent statuses. */
const RETRY_MS = 10_000;

/**
 * Maximum time that the first status of a pod waits while at least `MAX_CONCURRENT` others wait. That status says only
 * that the pod exists. Pods in such a burst are queued to start, and most of them are running by the end of the wait,
 * so one status is enough instead of two.
 */
const FIRST_OF_MANY_MS = 10_000;

/** A pod's status by version, which increases with each change. Only the latest version is sent. */
export interface DueStatus {
  readonly uid: string;
  readonly version: number;
  /** Whether no other component reacts to the change. */
  readonly mayWait?: boolean;
  /** Whether no status of the pod has been sent yet. */
  readonly isFirst?: boolean;
}

interface GatheredStatus extends DueStatus {
  /** Whether the status waits for up to `FIRST_OF_MANY_MS`. */
  readonly isFirstOfMany: boolean;
}

export interface StatusSinkInput {
  readonly name: string;
  /** Statuses that the sink had not acknowledged when an earlier run of the agent stopped. */
  readonly due: readonly DueStatus[];
  /**
   * Waiting time in milliseconds of a deferrable status, except for the first statuses of many pods. Undefined if no
   * status waits.
   */
  readonly patienceMs?: number;
}

export interface StatusSinkContext extends StatusSinkInput {
  /** Statuses to be sent in the order of `inOrder`. If a status of the pod is being sent, this one follows it. */
  readonly due: readonly DueStatus[];
  /** Statuses that wait for the next change, the latest of each pod. */
  readonly gathering: readonly GatheredStatus[];
  /** Statuses being sent, at most one per pod. */
  readonly sending: readonly DueStatus[];
  /** Rejected statuses. */
  readonly failed: readonly DueStatus[];
  /** Why the last status was rejected. It also determines when rejected statuses are retried. */
  readonly failure?: Failure | undefined;
  readonly retryAt: number;
}

const without = <Status extends DueStatus>(statuses: readonly Status[], uid: string | undefined) =>
  statuses.filter((each) => each.uid !== uid);

/** Adds a status, replacing an earlier version. The result may wait only if both versions may. */
const withDue = (due: readonly DueStatus[], { uid, version, mayWait = false }: DueStatus): readonly DueStatus[] =>
  isAmong(due, uid)
    ? due.map((each) => (each.uid === uid ? { uid, version, mayWait: mayWait && each.mayWait === true } : each))
    : [...due, { uid, version, mayWait }];

/**
 * Sorts the statuses to send. Changes to which other components react come first, because deferrable ones come in
 * bursts.
 */
const inOrder = (due: readonly DueStatus[]): readonly DueStatus[] => [
  ...due.filter(({ mayWait }) => !mayWait),
  ...due.filter(({ mayWait }) => mayWait),
];

const isAmong = (all: readonly DueStatus[], uid: string): boolean => all.some((each) => each.uid === uid);

/** Returns the ID of the timer for a waiting status. */
const gatherId = (uid: string): string => `gather/${uid}`;

/** Returns the ID of the call that sends a pod's status. */
const callId = (uid: string): string => `put/${uid}`;
const uidIn = (event: object): string => ('actorId' in event ? String(event.actorId) : '').replace(/^put\//, '');

/** Returns the version that the sink has acknowledged. */
const sentIn = (event: object): number =>
  // `putStatus` is the only actor whose output arrives here.
  'output' in event ? (event.output as { version: number }).version : 0;

/** Returns the number of statuses to send. */
function facts({ snapshot: { context } }: Seen<StatusSinkContext>) {
  const { due, gathering, sending, failed } = context;
  const count = new Set([...due, ...gathering, ...sending, ...failed].map(({ uid }) => uid)).size;
  return { facts: count === 0 ? [] : [`${count} ${count === 1 ? 'status' : 'statuses'} to send`] };
}

export const statusSinkMachine = setup({
  types: {
    input: {} as StatusSinkInput,
    context: {} as StatusSinkContext,
    events: {} as StatusSinkEvent,
    meta: {} as StateMeta,
    tags: {} as StateTag,
  },
  actors: { putStatus: port('putStatus'), timer: timerPort() },
  guards: {
    isSending: ({ context }) => context.sending.length > 0,
    hasFailed: ({ context }) => context.failed.length > 0,
    isGathering: ({ context }) => context.gathering.length > 0,
    mayWait: ({ context: { due, patienceMs = 0 }, event }) => {
      assertEvent(event, 'status.changed');
      return event.mayWait === true && patienceMs > 0 && !isAmong(due, event.uid);
    },
    hasDeferralElapsed: ({ event }) => {
      assertEvent(event, 'timer.elapsed');
      return event.wait !== undefined;
    },
  },
  actions: {
    gather: enqueueActions(({ context: { gathering, failed, patienceMs = 0 }, event, enqueue }) => {
      assertEvent(event, 'status.changed');
      const { uid, version, isFirst = false } = event;
      const before = gathering.find((each) => each.uid === uid);
      const isFirstOfMany = isFirst && gathering.filter((each) => each.isFirst).length >= MAX_CONCURRENT;
      const gathered = [...without(gathering, uid), { uid, version, mayWait: true, isFirst, isFirstOfMany }];
      enqueue.assign({ gathering: gathered, failed: without(failed, uid) });
      // A later status does not extend the wait, and a status other than the pod's first one never waits longer than
      // usual.
      if (before?.isFirstOfMany === false) return;
      if (before !== undefined) enqueue.stopChild(gatherId(uid));
      const after = isFirstOfMany ? FIRST_OF_MANY_MS : patienceMs;
      enqueue.spawnChild('timer', { id: gatherId(uid), input: { after, wait: uid } });
    }),
    queueDeferred: enqueueActions(({ context: { due, gathering }, event, enqueue }) => {
      assertEvent(event, 'timer.elapsed');
      if (event.wait === undefined) return;
      const { wait: uid } = event;
      enqueue.stopChild(gatherId(uid));
      const gathered = gathering.filter((each) => each.uid === uid);
      enqueue.assign({ due: gathered.reduce(withDue, due), gathering: without(gathering, uid) });
    }),
    queue: enqueueActions(({ context: { due, gathering, failed }, event, enqueue }) => {
      assertEvent(event, 'status.changed');
      const { uid } = event;
      if (isAmong(gathering, uid)) enqueue.stopChild(gatherId(uid));
      enqueue.assign({
        due: withDue(due, event),
        gathering: without(gathering, uid),
        failed: without(failed, uid),
      });
    }),
    queueFailed: enqueueActions(({ context, enqueue }) => {
      // A timer that has elapsed is not removed automatically.
      enqueue.stopChild('retry');
      enqueue.assign({ due: [...context.due, ...context.failed], failed: [] });
    }),
    send: enqueueActions(({ context: { name, due, sending }, enqueue }) => {
      const isFree = ({ uid }: DueStatus) => sending.every((each) => each.uid !== uid);
      const next = inOrder(due)
        .filter(isFree)
        .slice(0, MAX_CONCURRENT - sending.length);
      enqueue.assign({ due: due.filter((each) => !next.includes(each)), sending: [...sending, ...next] });
      for (const { uid } of next) enqueue.spawnChild('putStatus', { id: callId(uid), input: { sink: name, uid } });
    }),
    recordSent: enqueueActions(({ context: { due, gathering, sending, failed, failure }, event, enqueue }) => {
      const [uid, version] = [uidIn(event), sentIn(event)];
      enqueue.stopChild(callId(uid));
      const isNews = (each: DueStatus) => each.uid !== uid || each.version > version;
      if (!gathering.every(isNews)) enqueue.stopChild(gatherId(uid));
      enqueue.assign({
        sending: without(sending, uid),
        // A later status is sent next, unless the response already covers it.
        due: due.filter(isNews),
        gathering: gathering.filter(isNews),
        failure: failed.length > 0 ? failure : undefined,
      });
    }),
    recordFailed: enqueueActions(({ context: { due, gathering, sending, failed, retryAt }, event, enqueue }) => {
      const [uid, failure] = [uidIn(event), failureOf(event)];
      const isLater = isAmong([...due, ...gathering], uid);
      const sent = isLater ? [] : sending.filter((each) => each.uid === uid);
      enqueue.stopChild(callId(uid));
      if (failed.length > 0 || sent.length === 0) {
        enqueue.assign({ sending: without(sending, uid), failed: [...failed, ...sent], failure, retryAt });
        return;
      }
      const until = failure.at + RETRY_MS;
      enqueue.assign({ sending: without(sending, uid), failed: sent, failure, retryAt: until });
      enqueue.stopChild('retry');
      enqueue.spawnChild('timer', { id: 'retry', input: { until } });
    }),
  },
}).createMachine({
  id: 'statusSink',
  description: 'A status sink: receives the latest status of each pod, with retries.',
  meta: { facts },
  context: ({ input }) => ({ ...input, gathering: [], sending: [], failed: [], retryAt: 0 }),
  entry: 'send',
  initial: 'idle',
  on: {
    'status.changed': [{ guard: 'mayWait', actions: 'gather' }, { actions: ['queue', 'send'] }],
    'timer.elapsed': [
      { guard: 'hasDeferralElapsed', actions: ['queueDeferred', 'send'] },
      { actions: ['queueFailed', 'send'] },
    ],
    'xstate.done.actor.*': { actions: ['recordSent', 'send'] },
    'xstate.error.actor.*': { actions: ['recordFailed', 'send'] },
  },
  states: {
    idle: {
      description: 'The latest status of every pod has been acknowledged.',
      tags: 'steady',
      always: [
        { guard: 'isSending', target: 'sending' },
        { guard: 'hasFailed', target: 'awaitingRetry' },
        { guard: 'isGathering', target: 'gathering' },
      ],
    },
    gathering: {
      description: 'The changes can wait a little, and are sent together with those that follow.',
      tags: 'waiting',
      meta: { waitsFor: 'further changes of pods whose status can wait' },
      always: [
        { guard: 'isSending', target: 'sending' },
        { guard: not('isGathering'), target: 'idle', meta: { unreached: RARE } },
      ],
    },
    sending: {
      description: 'Statuses are being sent, only the latest one of each pod.',
      tags: 'working',
      meta: { waitsFor: 'pod statuses to be acknowledged' },
      always: { guard: not('isSending'), target: 'idle' },
    },
    awaitingRetry: {
      description: 'Statuses could not be sent. The latest ones are sent after a delay.',
      tags: 'retrying',
      meta: { waitsFor: 'another attempt to send unacknowledged statuses', until: 'retryAt' },
      // A failed status is dropped when a later status is sent or waits to replace it.
      always: [
        { guard: 'isSending', target: 'sending' },
        { guard: not('hasFailed'), target: 'idle' },
      ],
    },
  },
});
