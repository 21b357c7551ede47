/** Rotates the logs of the node's running containers at regular intervals. */
import { assertEvent, assign, sendTo, setup } from 'xstate';
import type { Failure } from '../../../base/failure.ts';
import type { ContainerRun } from '../../../kubernetes/lifecycle/observed.ts';
import { SERVICE_NEVER_FAILS } from '../../shared/coverageGaps.ts';
import type { LogsEvent, LogsReport } from '../../shared/events/upkeepEvents.ts';
import { port, timerPort } from '../../shared/ports.ts';
import type { ActorInfo, StateMeta, StateTag } from '../../shared/stateMeta.ts';
import { parent } from '../../shared/views/actorRefs.ts';
import { failureOf } from '../../shared/waiting/failure.ts';
import { after } from '../../shared/waiting/waits.ts';

export interface LogRotationInput {
  readonly intervalMs: number;
}

export interface LogRotationContext extends LogRotationInput {
  readonly logs: readonly ContainerRun[];
  readonly failure?: Failure;
}

export const logRotationMachine = setup({
  types: {
    input: {} as LogRotationInput,
    context: {} as LogRotationContext,
    events: {} as LogsEvent,
    meta: {} as StateMeta,
    tags: {} as StateTag,
  },
  actors: { rotateLogs: port('rotateLogs'), timer: timerPort() },
  guards: { hasNoLogs: ({ context }) => context.logs.length === 0 },
  actions: {
    requestLogs: sendTo(parent<LogsReport>(), { type: 'logs.requested' }),
    recordFailure: assign(({ event }) => ({ failure: failureOf(event) })),
    recordLogs: assign(({ event }) => {
      assertEvent(event, 'logs.listed');
      return { logs: event.logs };
    }),
  },
}).createMachine({
  id: 'logRotation',
  description: 'Log rotation of running containers.',
  meta: {
    deadlines: ({ since, snapshot: { context } }: ActorInfo<LogRotationContext>) => ({
      retryAt: since + context.intervalMs,
    }),
  },
  context: ({ input }) => ({ ...input, logs: [] }),
  initial: 'waiting',
  states: {
    waiting: {
      description: 'The next check of the log sizes follows after an interval.',
      tags: 'steady',
      meta: { waitsFor: 'the next check of log sizes', until: 'retryAt' },
      invoke: after(({ intervalMs }: LogRotationContext) => intervalMs),
      on: { 'timer.elapsed': 'queryingNode' },
    },
    queryingNode: {
      description: 'The node lists its running containers.',
      tags: 'working',
      meta: { waitsFor: 'the node to list its pods' },
      entry: 'requestLogs',
      on: { 'logs.listed': { target: 'rotating', actions: 'recordLogs' } },
    },
    rotating: {
      description: 'Logs that have grown too large are rotated and compressed, and the oldest are removed.',
      tags: 'working',
      meta: { waitsFor: 'logs to be rotated' },
      always: { guard: 'hasNoLogs', target: 'waiting' },
      invoke: {
        src: 'rotateLogs',
        input: ({ context }) => ({ logs: context.logs }),
        onDone: 'waiting',
        // Failed rotations are retried at the next check.
        onError: { target: 'waiting', actions: 'recordFailure', meta: { coverageGap: SERVICE_NEVER_FAILS } },
      },
    },
  },
});
