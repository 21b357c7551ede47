/**
 * Sends the latest status of each pod to a sink, one at a time per pod. A rejected status is retried after a delay, or
 * replaced by the pod's next status. It blocks neither other pods nor other sinks. If each status is expensive for the
 * sink, changes to which no other component reacts are deferred briefly, because they can often be combined with the
 * next change.
 */
import { assertEvent, enqueueActions, not, setup } from 'xstate';
import type { Failure } from '../../base/failure.ts';
import { RARELY_TAKEN } from '../shared/coverageGaps.ts';
import type { StatusSinkEvent } from '../shared/events/events.ts';
import { port, timerPort } from '../shared/ports.ts';
import type { ActorInfo, StateMeta, StateTag } from '../shared/stateMeta.ts';
import { failureOf } from '../shared/waiting/failure.ts';

/**
 * Maximum number of statuses sent concurrently. A kubelet sends one at a time, so a slow response delays all pods. With
 * this limit, seven statuses that hang until their timeout of 10 s leave a slot for the remaining ones, and the burst
 * of a whole node is spread out.
 */
const MAX_CONCURRENT_SENDS = 8;

/** The interval in milliseconds at which the kubelet retries unsent statuses. */
const RETRY_INTERVAL_MS = 10_000;

/**
 * Maximum time in milliseconds for which a pod's first status is deferred during a burst, i.e. while the first statuses
 * of at least `MAX_CONCURRENT_SENDS` other pods are waiting. A first status says only that the pod exists. Most pods in
 * a burst are running by the end of this time, so one status is sent instead of two.
 */
const BURST_DEFERRAL_MS = 10_000;

/** A version of a pod's status. The version increases with each change, and only the latest one is sent. */
export interface PendingStatus {
  readonly uid: string;
  readonly version: number;
  /** Whether the status may be deferred because no other component reacts to the change. */
  readonly mayWait?: boolean;
  /** Whether no status of the pod has been sent yet. */
  readonly isFirst?: boolean;
}

interface DeferredStatus extends PendingStatus {
  /** Whether the status waits for up to `BURST_DEFERRAL_MS`. */
  readonly isInBurst: boolean;
}

export interface StatusSinkInput {
  readonly name: string;
  /** Statuses that the sink had not acknowledged when an earlier run of the agent stopped. */
  readonly due: readonly PendingStatus[];
  /**
   * Time in milliseconds for which a deferrable status waits, unless it is a first status in a burst
   * (`BURST_DEFERRAL_MS`). Undefined if the sink defers no statuses.
   */
  readonly patienceMs?: number;
}

export interface StatusSinkContext extends StatusSinkInput {
  /**
   * Statuses to be sent in the order of `sendOrder`. A status waits until an earlier status of the same pod has been
   * sent.
   */
  readonly due: readonly PendingStatus[];
  /**
   * Deferred statuses, at most one per pod. Each waits until its timer elapses or a later status of the pod replaces
   * it.
   */
  readonly deferredStatuses: readonly DeferredStatus[];
  /** Statuses being sent, at most one per pod. */
  readonly statusesInFlight: readonly PendingStatus[];
  /** Rejected statuses that wait for the retry. */
  readonly failedStatuses: readonly PendingStatus[];
  /** Reason why the last status was rejected. */
  readonly failure?: Failure | undefined;
  readonly retryAt: number;
}

const withoutPod = <Status extends PendingStatus>(statuses: readonly Status[], uid: string | undefined) =>
  statuses.filter((each) => each.uid !== uid);

/** Adds a status, replacing an earlier version. The result may be deferred only if both versions may be deferred. */
const withPendingStatus = (
  due: readonly PendingStatus[],
  { uid, version, mayWait = false }: PendingStatus,
): readonly PendingStatus[] =>
  includesPod(due, uid)
    ? due.map((each) => (each.uid === uid ? { uid, version, mayWait: mayWait && each.mayWait === true } : each))
    : [...due, { uid, version, mayWait }];

/**
 * Sorts the statuses to send. Changes to which other components react come first, because deferrable ones come in
 * bursts.
 */
const sendOrder = (due: readonly PendingStatus[]): readonly PendingStatus[] => [
  ...due.filter(({ mayWait }) => !mayWait),
  ...due.filter(({ mayWait }) => mayWait),
];

const includesPod = (statuses: readonly PendingStatus[], uid: string): boolean =>
  statuses.some((each) => each.uid === uid);

/** Returns the ID of the timer for a waiting status. */
const deferralTimerId = (uid: string): string => `deferral/${uid}`;

/** Returns the ID of the call that sends a pod's status. */
const callId = (uid: string): string => `put/${uid}`;
const sentUid = (event: object): string => ('actorId' in event ? String(event.actorId) : '').replace(/^put\//, '');

const acknowledgedVersion = (event: object): number =>
  // Safe cast: `putStatus` is the only spawned actor that has an output.
  'output' in event ? (event.output as { version: number }).version : 0;

/** Returns the number of statuses to send, for the actor tree. */
function facts({ snapshot: { context } }: ActorInfo<StatusSinkContext>) {
  const { due, deferredStatuses, statusesInFlight, failedStatuses } = context;
  const count = new Set([...due, ...deferredStatuses, ...statusesInFlight, ...failedStatuses].map(({ uid }) => uid))
    .size;
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
    isSending: ({ context }) => context.statusesInFlight.length > 0,
    hasFailedStatuses: ({ context }) => context.failedStatuses.length > 0,
    hasDeferredStatuses: ({ context }) => context.deferredStatuses.length > 0,
    canDefer: ({ context: { due, patienceMs = 0 }, event }) => {
      assertEvent(event, 'status.changed');
      return event.mayWait === true && patienceMs > 0 && !includesPod(due, event.uid);
    },
    hasDeferralElapsed: ({ event }) => {
      assertEvent(event, 'timer.elapsed');
      return event.wait !== undefined;
    },
  },
  actions: {
    deferStatus: enqueueActions(({ context: { deferredStatuses, failedStatuses, patienceMs = 0 }, event, enqueue }) => {
      assertEvent(event, 'status.changed');
      const { uid, version, isFirst = false } = event;
      const previousStatus = deferredStatuses.find((each) => each.uid === uid);
      const isInBurst = isFirst && deferredStatuses.filter((each) => each.isFirst).length >= MAX_CONCURRENT_SENDS;
      const nextDeferredStatuses = [
        ...withoutPod(deferredStatuses, uid),
        { uid, version, mayWait: true, isFirst, isInBurst },
      ];
      enqueue.assign({ deferredStatuses: nextDeferredStatuses, failedStatuses: withoutPod(failedStatuses, uid) });
      // A later status does not extend the wait, and a status other than the pod's first one never waits longer than
      // usual.
      if (previousStatus?.isInBurst === false) return;
      if (previousStatus !== undefined) enqueue.stopChild(deferralTimerId(uid));
      const delayMs = isInBurst ? BURST_DEFERRAL_MS : patienceMs;
      enqueue.spawnChild('timer', { id: deferralTimerId(uid), input: { after: delayMs, wait: uid } });
    }),
    queueDeferred: enqueueActions(({ context: { due, deferredStatuses }, event, enqueue }) => {
      assertEvent(event, 'timer.elapsed');
      if (event.wait === undefined) return;
      const { wait: uid } = event;
      enqueue.stopChild(deferralTimerId(uid));
      const elapsedStatuses = deferredStatuses.filter((each) => each.uid === uid);
      enqueue.assign({
        due: elapsedStatuses.reduce(withPendingStatus, due),
        deferredStatuses: withoutPod(deferredStatuses, uid),
      });
    }),
    queueStatus: enqueueActions(({ context: { due, deferredStatuses, failedStatuses }, event, enqueue }) => {
      assertEvent(event, 'status.changed');
      const { uid } = event;
      if (includesPod(deferredStatuses, uid)) enqueue.stopChild(deferralTimerId(uid));
      enqueue.assign({
        due: withPendingStatus(due, event),
        deferredStatuses: withoutPod(deferredStatuses, uid),
        failedStatuses: withoutPod(failedStatuses, uid),
      });
    }),
    queueFailed: enqueueActions(({ context, enqueue }) => {
      // Stop the timer even if it has elapsed, because an elapsed timer is not removed automatically.
      enqueue.stopChild('retry');
      enqueue.assign({ due: [...context.due, ...context.failedStatuses], failedStatuses: [] });
    }),
    sendDueStatuses: enqueueActions(({ context: { name, due, statusesInFlight }, enqueue }) => {
      // Return early, because in a burst most changes arrive while the maximum number of sends is in flight.
      if (statusesInFlight.length >= MAX_CONCURRENT_SENDS) return;
      const isPodIdle = ({ uid }: PendingStatus) => statusesInFlight.every((each) => each.uid !== uid);
      const statusesToSend = sendOrder(due)
        .filter(isPodIdle)
        .slice(0, MAX_CONCURRENT_SENDS - statusesInFlight.length);
      enqueue.assign({
        due: due.filter((each) => !statusesToSend.includes(each)),
        statusesInFlight: [...statusesInFlight, ...statusesToSend],
      });
      for (const { uid } of statusesToSend)
        enqueue.spawnChild('putStatus', { id: callId(uid), input: { sink: name, uid } });
    }),
    recordSent: enqueueActions(
      ({ context: { due, deferredStatuses, statusesInFlight, failedStatuses, failure }, event, enqueue }) => {
        const [uid, version] = [sentUid(event), acknowledgedVersion(event)];
        enqueue.stopChild(callId(uid));
        const isNewer = (each: PendingStatus) => each.uid !== uid || each.version > version;
        if (!deferredStatuses.every(isNewer)) enqueue.stopChild(deferralTimerId(uid));
        enqueue.assign({
          statusesInFlight: withoutPod(statusesInFlight, uid),
          // A later status is sent next, unless the response already covers it.
          due: due.filter(isNewer),
          deferredStatuses: deferredStatuses.filter(isNewer),
          failure: failedStatuses.length > 0 ? failure : undefined,
        });
      },
    ),
    recordFailed: enqueueActions(
      ({ context: { due, deferredStatuses, statusesInFlight, failedStatuses, retryAt }, event, enqueue }) => {
        const [uid, failure] = [sentUid(event), failureOf(event)];
        const hasLaterStatus = includesPod([...due, ...deferredStatuses], uid);
        const rejectedStatuses = hasLaterStatus ? [] : statusesInFlight.filter((each) => each.uid === uid);
        enqueue.stopChild(callId(uid));
        if (failedStatuses.length > 0 || rejectedStatuses.length === 0) {
          enqueue.assign({
            statusesInFlight: withoutPod(statusesInFlight, uid),
            failedStatuses: [...failedStatuses, ...rejectedStatuses],
            failure,
            retryAt,
          });
          return;
        }
        const until = failure.at + RETRY_INTERVAL_MS;
        enqueue.assign({
          statusesInFlight: withoutPod(statusesInFlight, uid),
          failedStatuses: rejectedStatuses,
          failure,
          retryAt: until,
        });
        enqueue.stopChild('retry');
        enqueue.spawnChild('timer', { id: 'retry', input: { until } });
      },
    ),
  },
}).createMachine({
  id: 'statusSink',
  description: 'A status sink: receives the latest status of each pod, with retries.',
  meta: { facts },
  context: ({ input }) => ({ ...input, deferredStatuses: [], statusesInFlight: [], failedStatuses: [], retryAt: 0 }),
  entry: 'sendDueStatuses',
  initial: 'idle',
  on: {
    'status.changed': [{ guard: 'canDefer', actions: 'deferStatus' }, { actions: ['queueStatus', 'sendDueStatuses'] }],
    'timer.elapsed': [
      { guard: 'hasDeferralElapsed', actions: ['queueDeferred', 'sendDueStatuses'] },
      { actions: ['queueFailed', 'sendDueStatuses'] },
    ],
    'xstate.done.actor.*': { actions: ['recordSent', 'sendDueStatuses'] },
    'xstate.error.actor.*': { actions: ['recordFailed', 'sendDueStatuses'] },
  },
  states: {
    idle: {
      description: 'The latest status of every pod has been acknowledged.',
      tags: 'steady',
      always: [
        { guard: 'isSending', target: 'sending' },
        { guard: 'hasFailedStatuses', target: 'awaitingRetry' },
        { guard: 'hasDeferredStatuses', target: 'deferring' },
      ],
    },
    deferring: {
      description: 'The changes can wait a little, and are sent together with those that follow.',
      tags: 'waiting',
      meta: { waitsFor: 'further changes of pods whose status can wait' },
      always: [
        { guard: 'isSending', target: 'sending' },
        { guard: not('hasDeferredStatuses'), target: 'idle', meta: { coverageGap: RARELY_TAKEN } },
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
        { guard: not('hasFailedStatuses'), target: 'idle' },
      ],
    },
  },
});
