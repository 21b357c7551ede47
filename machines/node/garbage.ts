/**
 * Collects the node's garbage. At the start and then once a minute, it removes dead containers and old sandboxes, and
 * finds leftover files of unknown pods.
 */
import { assertEvent, assign, emit, sendTo, setup } from 'xstate';
import type { Failure } from '../../base/failure.ts';
import {
  type EventMessage,
  involvedNode,
  type RecordedEvent,
  recordedEvent,
} from '../../kubernetes/events/recordedEvent.ts';
import { parent } from '../shared/actorRefs.ts';
import { failureOf } from '../shared/failure.ts';
import { port, timerPort } from '../shared/ports.ts';
import type { StateMeta, StateTag } from '../shared/stateMeta.ts';
import type { GarbageEvent, GarbageFound, GarbageReport } from '../shared/upkeepEvents.ts';
import { after } from '../shared/waits.ts';

const EVERY_MS = 60_000;

export interface GarbageInput {
  readonly nodeName: string;
}

export interface GarbageContext extends GarbageInput {
  /** The garbage in the node's last reply. */
  readonly found: GarbageFound;
  readonly failure?: Failure;
}

/** Empty garbage, before the node has replied and after a collection. */
const NOTHING = { containers: [], sandboxes: [], known: [], foreign: [] } as const;

export const garbageMachine = setup({
  types: {
    input: {} as GarbageInput,
    context: {} as GarbageContext,
    events: {} as GarbageEvent,
    emitted: {} as RecordedEvent,
    meta: {} as StateMeta,
    tags: {} as StateTag,
  },
  actors: { removeGarbage: port('removeGarbage'), surveyDisk: port('surveyDisk'), timer: timerPort() },
  guards: { isClean: ({ context: { found } }) => found.containers.length + found.sandboxes.length === 0 },
  actions: {
    recordEvent: emit(({ context }, message: EventMessage) => recordedEvent(involvedNode(context.nodeName), message)),
    ask: sendTo(parent<GarbageReport>(), { type: 'garbage.asked' }),
    recordFailure: assign(({ event }) => ({ failure: failureOf(event) })),
    record: assign(({ event }) => {
      assertEvent(event, 'garbage.found');
      return { found: event.found };
    }),
    forgetFound: assign({ found: NOTHING }),
  },
}).createMachine({
  id: 'garbage',
  description: 'Garbage collection on the node: dead containers, old sandboxes, leftover pod files.',
  context: ({ input }) => ({ ...input, found: NOTHING }),
  // The first collection runs at once, because an earlier run of the agent may have left garbage. Later ones run once a
  // minute.
  initial: 'asking',
  states: {
    waiting: {
      description: 'The next collection starts a minute after the last one.',
      tags: 'steady',
      meta: { waitsFor: 'the next garbage collection', afterMs: EVERY_MS },
      entry: 'forgetFound',
      invoke: after(EVERY_MS),
      on: { 'timer.elapsed': 'asking' },
    },
    asking: {
      description: 'The node lists its pods and their dead containers.',
      tags: 'working',
      meta: { waitsFor: 'the node to list its pods' },
      entry: 'ask',
      on: {
        'garbage.found': [{ target: 'removing', actions: 'record' }],
      },
    },
    removing: {
      description: 'Dead containers beyond the number to retain are removed with their logs, and so are old sandboxes.',
      tags: 'working',
      meta: { waitsFor: 'dead containers and sandboxes to be removed' },
      always: { guard: 'isClean', target: 'surveying' },
      invoke: {
        src: 'removeGarbage',
        input: ({ context: { found } }) => ({ containers: found.containers, sandboxes: found.sandboxes }),
        onDone: 'surveying',
        // Objects that could not be removed are retried in the next collection.
        onError: {
          target: 'surveying',
          actions: [
            'recordFailure',
            {
              type: 'recordEvent',
              params: ({ event }) => ({
                eventType: 'Warning' as const,
                reason: 'ContainerGCFailed',
                message: failureOf(event).message,
              }),
            },
          ],
        },
      },
    },
    surveying: {
      description: 'The directories of pods are searched for files that no pod owns any longer.',
      tags: 'working',
      meta: { waitsFor: 'the scan for leftover pod files' },
      invoke: {
        src: 'surveyDisk',
        input: ({ context: { found } }) => ({ known: found.known, foreign: found.foreign }),
        onDone: {
          target: 'waiting',
          actions: [
            assign(({ event: { output } }) => (output.failure ? { failure: output.failure } : {})),
            sendTo(parent<GarbageReport>(), ({ event: { output } }) => ({
              type: 'garbage.podsFound' as const,
              left: output.left,
              foreign: output.foreign,
              gone: output.gone ?? [],
            })),
          ],
        },
        onError: { target: 'waiting', actions: 'recordFailure' },
      },
    },
  },
});
