/** How long a pod may be active on its node (activeDeadlineSeconds): tells its pod when that time is over. */
import { sendTo, setup } from 'xstate';
import { parent } from '../shared/actorRefs.ts';
import type { PodEvent } from '../shared/events.ts';
import { timerPort } from '../shared/ports.ts';
import type { StateMeta, StateTag } from '../shared/stateMeta.ts';

export interface ActiveDeadline {
  /** Milliseconds since the epoch. */
  readonly deadline: number;
}

export const activeDeadlineMachine = setup({
  types: {
    input: {} as ActiveDeadline,
    context: {} as ActiveDeadline,
    events: {} as { type: 'timer.elapsed' },
    meta: {} as StateMeta,
    tags: {} as StateTag,
  },
  actors: { timer: timerPort() },
  actions: {
    tell: sendTo(parent<PodEvent>(), ({ context }) => ({ type: 'pod.deadlineExceeded', at: context.deadline })),
  },
}).createMachine({
  id: 'activeDeadline',
  description: 'The activeDeadlineSeconds of one pod.',
  context: ({ input }) => input,
  initial: 'counting',
  states: {
    counting: {
      tags: 'waiting',
      meta: { waitsFor: 'the activeDeadlineSeconds of its pod to pass', until: 'deadline' },
      invoke: { src: 'timer', input: ({ context }) => ({ until: context.deadline }) },
      on: { 'timer.elapsed': 'exceeded' },
    },
    exceeded: { tags: 'done', entry: 'tell' },
  },
});
