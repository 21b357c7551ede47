/** Delays a pod's next batch of commands until other work on the node has run. */
import { sendTo, setup } from 'xstate';
import type { PodEvent } from '../../shared/events/events.ts';
import type { TimerEvent } from '../../shared/events/slots.ts';
import { timerPort } from '../../shared/ports.ts';
import type { StateMeta, StateTag } from '../../shared/stateMeta.ts';
import { parent } from '../../shared/views/actorRefs.ts';
import { after } from '../../shared/waiting/waits.ts';

export const paceMachine = setup({
  types: {
    events: {} as TimerEvent,
    meta: {} as StateMeta,
    tags: {} as StateTag,
  },
  actors: { timer: timerPort() },
  actions: { requestNextBatch: sendTo(parent<PodEvent>(), { type: 'pod.batchDue' }) },
}).createMachine({
  id: 'pace',
  description: 'The pause between two batches of commands from a pod to its containers and volumes.',
  initial: 'pausing',
  states: {
    pausing: {
      description:
        'The pod has sent a batch of commands to its containers. Everything else on the node has its turn before the next one.',
      tags: 'waiting',
      meta: { waitsFor: 'its turn to send more commands to its containers and volumes', afterMs: 0 },
      invoke: after(0),
      on: { 'timer.elapsed': { target: 'elapsed', actions: 'requestNextBatch' } },
    },
    elapsed: { description: 'The pod has been notified to send the next batch.', tags: 'done' },
  },
});
