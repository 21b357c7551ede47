/**
 * A sink of statuses: it is sent the latest status of each pod, one after the other. What it does not take is tried again
 * after a while, or with the pod's next status, and holds up neither other pods nor other sinks.
 */
import { assign, setup } from 'xstate';
import type { Failure } from '../../pod/failure.ts';
import type { StatusFact } from '../shared/events.ts';
import { failureOf } from '../shared/failure.ts';
import { port, timerPort } from '../shared/ports.ts';
import type { Seen, StateMeta, StateTag } from '../shared/stateMeta.ts';

/** As a kubelet: so often all statuses are looked through that the API server has not got. */
const RETRY_MS = 10_000;

/** A pod's status by its version, which grows with each that differs: only the latest is ever sent. */
export interface DueStatus {
  readonly uid: string;
  readonly version: number;
}

export interface StatusSinkInput {
  readonly name: string;
  /** What a former run of the agent had no acknowledgement of. */
  readonly due: readonly DueStatus[];
}

export interface StatusSinkContext extends StatusSinkInput {
  /** To be sent, the first one first; while it sends it is the first one. */
  readonly due: readonly DueStatus[];
  /** What it did not take. */
  readonly failed: readonly DueStatus[];
  /** Why it did not take the last of them, and when the first of them failed. */
  readonly failure?: Failure | undefined;
  readonly retryAt: number;
}

const without = (all: readonly DueStatus[], uid: string | undefined) => all.filter((each) => each.uid !== uid);

/** A later version takes the place of an earlier one. */
const withDue = (due: readonly DueStatus[], { uid, version }: DueStatus): readonly DueStatus[] =>
  due.some((each) => each.uid === uid)
    ? due.map((each) => (each.uid === uid ? { uid, version } : each))
    : [...due, { uid, version }];

/** The version that the sink has taken. */
const sentIn = (event: object): number =>
  // Only `putStatus` is done here.
  'output' in event ? (event.output as { version: number }).version : 0;

/** How many it has yet to take. */
function facts({ snapshot: { context } }: Seen<StatusSinkContext>) {
  const left = context.due.length + context.failed.length;
  return { facts: left === 0 ? [] : [`${left} ${left === 1 ? 'status' : 'statuses'} to send`] };
}

export const statusSinkMachine = setup({
  types: {
    input: {} as StatusSinkInput,
    context: {} as StatusSinkContext,
    events: {} as StatusFact | { type: 'timer.elapsed' },
    meta: {} as StateMeta,
    tags: {} as StateTag,
  },
  actors: { putStatus: port('putStatus'), timer: timerPort() },
  guards: {
    hasDue: ({ context }) => context.due.length > 0,
    hasFailed: ({ context }) => context.failed.length > 0,
  },
  actions: {
    queue: assign(({ context, event }) =>
      event.type === 'status.changed'
        ? { due: withDue(context.due, event), failed: without(context.failed, event.uid) }
        : {},
    ),
    queueFailed: assign(({ context }) => ({ due: [...context.due, ...context.failed], failed: [] })),
    recordSent: assign(({ context: { due, failed, failure }, event }) => {
      const [first, ...others] = due;
      // What has come meanwhile is sent in its turn.
      const isLatest = first === undefined || first.version <= sentIn(event);
      return { due: isLatest ? others : [...others, first], failure: failed.length > 0 ? failure : undefined };
    }),
    recordFailed: assign(({ context, event }) => {
      const failure = failureOf(event);
      const [first, ...due] = context.due;
      const failed = [...context.failed, ...(first ? [first] : [])];
      return { due, failed, failure, retryAt: context.failed.length > 0 ? context.retryAt : failure.at + RETRY_MS };
    }),
  },
}).createMachine({
  id: 'statusSink',
  description: 'A sink of statuses: it is sent the latest of each pod, and what it does not take again.',
  meta: { facts },
  context: ({ input }) => ({ ...input, failed: [], retryAt: 0 }),
  initial: 'idle',
  on: { 'status.changed': { actions: 'queue' } },
  states: {
    idle: {
      tags: 'steady',
      always: [
        { guard: 'hasDue', target: 'sending' },
        { guard: 'hasFailed', target: 'awaitingRetry' },
      ],
    },
    sending: {
      tags: 'working',
      meta: { waitsFor: 'a pod status to be acknowledged' },
      invoke: {
        src: 'putStatus',
        input: ({ context: { name, due } }) => ({ sink: name, uid: due[0]?.uid ?? '' }),
        onDone: { target: 'idle', actions: 'recordSent' },
        onError: { target: 'idle', actions: 'recordFailed' },
      },
    },
    awaitingRetry: {
      tags: 'retrying',
      meta: { waitsFor: 'another attempt to send unacknowledged statuses', until: 'retryAt' },
      invoke: { src: 'timer', input: ({ context }) => ({ until: context.retryAt }) },
      always: { guard: 'hasDue', target: 'sending' },
      on: { 'timer.elapsed': { target: 'idle', actions: 'queueFailed' } },
    },
  },
});
