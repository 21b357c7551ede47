/**
 * Counts down the activeDeadlineSeconds of a pod or the time limit of its termination, and notifies the pod when the
 * time is up.
 */
import { sendTo, setup } from 'xstate';
import { SERVICE_NEVER_FAILS } from '../shared/coverageGaps.ts';
import type { PodEvent } from '../shared/events/events.ts';
import type { TimerEvent } from '../shared/events/slots.ts';
import { port, timerPort } from '../shared/ports.ts';
import type { StateMeta, StateTag } from '../shared/stateMeta.ts';
import { parent } from '../shared/views/actorRefs.ts';
import { after } from '../shared/waiting/waits.ts';

export interface ActiveDeadline {
  /** The deadline in milliseconds since the epoch. */
  readonly deadline: number;
  /** Whether the deadline is the time limit of the pod's termination. */
  readonly isTerminationLimit: boolean;
}

export const activeDeadlineMachine = setup({
  types: {
    input: {} as ActiveDeadline,
    context: {} as ActiveDeadline,
    events: {} as TimerEvent,
    meta: {} as StateMeta,
    /**
     * `byWallClock` marks a wait that ends when the wall clock reaches the deadline, even if the clock is adjusted
     * during the wait.
     */
    tags: {} as StateTag | 'byWallClock',
  },
  actors: { pickTime: port('pickTime'), timer: timerPort() },
  guards: { isTerminationLimit: ({ context }) => context.isTerminationLimit },
  actions: {
    reportDeadlineExceeded: sendTo(parent<PodEvent>(), ({ context: { deadline } }, at: number) => {
      return { type: 'pod.deadlineExceeded', deadline, at };
    }),
    reportKillLimitExceeded: sendTo(parent<PodEvent>(), ({ context: { deadline } }) => {
      return { type: 'pod.killLimitExceeded', deadline };
    }),
  },
}).createMachine({
  id: 'activeDeadline',
  description: 'The activeDeadlineSeconds of one pod, or the time limit of its termination.',
  context: ({ input }) => input,
  initial: 'choosing',
  states: {
    choosing: {
      description: 'It is decided whether this is the active deadline of the pod or the time limit of its termination.',
      tags: 'working',
      always: [{ guard: 'isTerminationLimit', target: 'limitingTermination' }, { target: 'countingDown' }],
    },
    // Counts down by the wall clock, as the kubelet does (`pkg/kubelet/active_deadline.go`).
    countingDown: {
      description: 'The activeDeadlineSeconds of the pod count from the start time in its status, by the wall clock.',
      tags: ['waiting', 'byWallClock'],
      meta: { waitsFor: 'the activeDeadlineSeconds of its pod to pass', until: 'deadline' },
      invoke: after(({ deadline }: ActiveDeadline) => ({ shown: deadline })),
      on: { 'timer.elapsed': 'startingGracePeriod' },
    },
    limitingTermination: {
      description: 'The node terminates the pod for its own reasons, and reports if the time limit is exceeded.',
      tags: 'waiting',
      meta: { waitsFor: 'its pod to terminate', until: 'deadline' },
      invoke: after(({ deadline }: ActiveDeadline) => ({ until: deadline })),
      on: { 'timer.elapsed': { target: 'exceeded', actions: 'reportKillLimitExceeded' } },
    },
    startingGracePeriod: {
      description:
        'The deadline has passed. The grace period starts now, because the deadline may have been set late, or the clock may have been set.',
      tags: 'working',
      meta: { waitsFor: 'the grace period of its pod to start' },
      invoke: {
        src: 'pickTime',
        input: { withinMs: 0 },
        onDone: {
          target: 'exceeded',
          actions: { type: 'reportDeadlineExceeded', params: ({ event }) => event.output.at },
        },
        onError: {
          target: 'exceeded',
          actions: { type: 'reportDeadlineExceeded', params: ({ context }) => context.deadline },
          meta: { coverageGap: SERVICE_NEVER_FAILS },
        },
      },
    },
    exceeded: { description: 'The time is over, and the pod has been notified.', tags: 'done' },
  },
});
