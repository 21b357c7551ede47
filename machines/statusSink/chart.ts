/**
 * A sink of statuses: it is sent the latest status of each pod, those of one pod one after the other. What it does not
 * take is tried again after a while, or with the pod's next status, and holds up neither other pods nor other sinks.
 * Where each status costs the sink something, what nobody acts on waits a moment: it often goes with what follows.
 */
import { enqueueActions, not, setup } from 'xstate';
import type { Failure } from '../../base/failure.ts';
import type { StatusSinkEvent } from '../shared/events.ts';
import { failureOf } from '../shared/failure.ts';
import { port, timerPort } from '../shared/ports.ts';
import type { Seen, StateMeta, StateTag } from '../shared/stateMeta.ts';

/**
 * So many are sent at a time. A kubelet sends one, so that an answer that is late is late for all pods; here seven pods
 * whose status hangs for its 10 s leave room for the others, and a burst of a whole node is no burst at the sink.
 */
const MOST_AT_A_TIME = 8;

/** As a kubelet: so often all statuses are looked through that the API server has not got. */
const RETRY_MS = 10_000;

/**
 * How long the first status of a pod may wait while as many others wait as are sent at a time: it says only that the pod is
 * there. Such pods stand in line to start, and most of them run by then, so that each is told of once instead of twice.
 */
const FIRST_OF_MANY_MS = 10_000;

/** A pod's status by its version, which grows with each that differs: only the latest is ever sent. */
export interface DueStatus {
  readonly uid: string;
  readonly version: number;
  /** Nobody acts on what has changed. */
  readonly mayWait?: boolean;
  /** Of its pod nobody has been told anything yet. */
  readonly isFirst?: boolean;
}

interface GatheredStatus extends DueStatus {
  /** It waits for `FIRST_OF_MANY_MS`. */
  readonly isFirstOfMany: boolean;
}

export interface StatusSinkInput {
  readonly name: string;
  /** What a former run of the agent had no acknowledgement of. */
  readonly due: readonly DueStatus[];
  /** So long waits what may, in milliseconds, but for the first statuses of many pods; absent: nothing does. */
  readonly patienceMs?: number;
}

export interface StatusSinkContext extends StatusSinkInput {
  /** To be sent, each kind of `inOrder` the first one first; of a pod whose status is being sent the next one. */
  readonly due: readonly DueStatus[];
  /** They wait for what follows, of each pod the latest. */
  readonly gathering: readonly GatheredStatus[];
  /** Being sent: of each pod one. */
  readonly sending: readonly DueStatus[];
  /** What it did not take. */
  readonly failed: readonly DueStatus[];
  /** Why it did not take the last of them, and when the first of them failed. */
  readonly failure?: Failure | undefined;
  readonly retryAt: number;
}

const without = <Status extends DueStatus>(all: readonly Status[], uid: string | undefined) =>
  all.filter((each) => each.uid !== uid);

/** A later version takes the place of an earlier one, and may wait only where both may. */
const withDue = (due: readonly DueStatus[], { uid, version, mayWait = false }: DueStatus): readonly DueStatus[] =>
  isAmong(due, uid)
    ? due.map((each) => (each.uid === uid ? { uid, version, mayWait: mayWait && each.mayWait === true } : each))
    : [...due, { uid, version, mayWait }];

/** What others act on goes first: what could wait comes in crowds. */
const inOrder = (due: readonly DueStatus[]): readonly DueStatus[] => [
  ...due.filter(({ mayWait }) => !mayWait),
  ...due.filter(({ mayWait }) => mayWait),
];

const isAmong = (all: readonly DueStatus[], uid: string): boolean => all.some((each) => each.uid === uid);

/** The wait of a pod's status, by its pod. */
const gatherId = (uid: string): string => `gather/${uid}`;

/** Which pod's status was sent, by the id of the call. */
const callId = (uid: string): string => `put/${uid}`;
const uidIn = (event: object): string => ('actorId' in event ? String(event.actorId) : '').replace(/^put\//, '');

/** The version that the sink has taken. */
const sentIn = (event: object): number =>
  // Only `putStatus` is done here.
  'output' in event ? (event.output as { version: number }).version : 0;

/** How many it has yet to take. */
function facts({ snapshot: { context } }: Seen<StatusSinkContext>) {
  const { due, gathering, sending, failed } = context;
  const left = new Set([...due, ...gathering, ...sending, ...failed].map(({ uid }) => uid)).size;
  return { facts: left === 0 ? [] : [`${left} ${left === 1 ? 'status' : 'statuses'} to send`] };
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
    mayWait: ({ context: { due, patienceMs = 0 }, event }) =>
      event.type === 'status.changed' && event.mayWait === true && patienceMs > 0 && !isAmong(due, event.uid),
    hasGathered: ({ event }) => event.type === 'timer.elapsed' && event.wait !== undefined,
  },
  actions: {
    gather: enqueueActions(({ context: { gathering, failed, patienceMs = 0 }, event, enqueue }) => {
      if (event.type !== 'status.changed') return;
      const { uid, version, isFirst = false } = event;
      const before = gathering.find((each) => each.uid === uid);
      const isFirstOfMany = isFirst && gathering.filter((each) => each.isFirst).length >= MOST_AT_A_TIME;
      const gathered = [...without(gathering, uid), { uid, version, mayWait: true, isFirst, isFirstOfMany }];
      enqueue.assign({ gathering: gathered, failed: without(failed, uid) });
      // What follows does not make it wait longer; once more is known of a pod, it waits no longer than any other.
      if (before?.isFirstOfMany === false) return;
      if (before !== undefined) enqueue.stopChild(gatherId(uid));
      const after = isFirstOfMany ? FIRST_OF_MANY_MS : patienceMs;
      enqueue.spawnChild('timer', { id: gatherId(uid), input: { after, wait: uid } });
    }),
    queueGathered: enqueueActions(({ context: { due, gathering }, event, enqueue }) => {
      if (event.type !== 'timer.elapsed' || event.wait === undefined) return;
      const { wait: uid } = event;
      enqueue.stopChild(gatherId(uid));
      const gathered = gathering.filter((each) => each.uid === uid);
      enqueue.assign({ due: gathered.reduce(withDue, due), gathering: without(gathering, uid) });
    }),
    queue: enqueueActions(({ context: { due, gathering, failed }, event, enqueue }) => {
      if (event.type !== 'status.changed') return;
      const { uid } = event;
      if (isAmong(gathering, uid)) enqueue.stopChild(gatherId(uid));
      enqueue.assign({
        due: withDue(due, event),
        gathering: without(gathering, uid),
        failed: without(failed, uid),
      });
    }),
    queueFailed: enqueueActions(({ context, enqueue }) => {
      // A timer that has elapsed does not end by itself.
      enqueue.stopChild('retry');
      enqueue.assign({ due: [...context.due, ...context.failed], failed: [] });
    }),
    send: enqueueActions(({ context: { name, due, sending }, enqueue }) => {
      const isFree = ({ uid }: DueStatus) => sending.every((each) => each.uid !== uid);
      const next = inOrder(due)
        .filter(isFree)
        .slice(0, MOST_AT_A_TIME - sending.length);
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
        // What has come meanwhile is sent in its turn, unless it was sent already.
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
      { guard: 'hasGathered', actions: ['queueGathered', 'send'] },
      { actions: ['queueFailed', 'send'] },
    ],
    'xstate.done.actor.*': { actions: ['recordSent', 'send'] },
    'xstate.error.actor.*': { actions: ['recordFailed', 'send'] },
  },
  states: {
    idle: {
      tags: 'steady',
      always: [
        { guard: 'isSending', target: 'sending' },
        { guard: 'hasFailed', target: 'awaitingRetry' },
        { guard: 'isGathering', target: 'gathering' },
      ],
    },
    gathering: {
      tags: 'waiting',
      meta: { waitsFor: 'what follows the statuses that can wait' },
      always: [
        { guard: 'isSending', target: 'sending' },
        { guard: not('isGathering'), target: 'idle' },
      ],
    },
    sending: {
      tags: 'working',
      meta: { waitsFor: 'pod statuses to be acknowledged' },
      always: { guard: not('isSending'), target: 'idle' },
    },
    awaitingRetry: {
      tags: 'retrying',
      meta: { waitsFor: 'another attempt to send unacknowledged statuses', until: 'retryAt' },
      // What failed is dropped for what is sent in its place, or will be when it has waited.
      always: [
        { guard: 'isSending', target: 'sending' },
        { guard: not('hasFailed'), target: 'idle' },
      ],
    },
  },
});
