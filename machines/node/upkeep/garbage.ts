/**
 * Collects the node's garbage when the agent starts and then once a minute. Removes dead containers and old sandboxes,
 * and finds leftover files of unknown pods.
 */
import { assertEvent, assign, emit, sendTo, setup } from 'xstate';
import type { Failure } from '../../../base/failure.ts';
import {
  type EventMessage,
  involvedNode,
  type RecordedEvent,
  recordedEvent,
} from '../../../kubernetes/events/recordedEvent.ts';
import type { GarbageEvent, GarbageReport, NodeGarbage } from '../../shared/events/upkeepEvents.ts';
import { port, timerPort } from '../../shared/ports.ts';
import type { StateMeta, StateTag } from '../../shared/stateMeta.ts';
import { parent } from '../../shared/views/actorRefs.ts';
import { failureOf } from '../../shared/waiting/failure.ts';
import { after } from '../../shared/waiting/waits.ts';

const COLLECTION_INTERVAL_MS = 60_000;

export interface GarbageInput {
  readonly nodeName: string;
}

export interface GarbageContext extends GarbageInput {
  /** The garbage that the node reported last. */
  readonly garbage: NodeGarbage;
  readonly failure?: Failure;
}

/** Value before the node has reported its garbage and after each garbage collection. */
const NO_GARBAGE = { containers: [], sandboxes: [], activePodUids: [], foreign: [] } as const;

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
  guards: { hasNoGarbage: ({ context: { garbage } }) => garbage.containers.length + garbage.sandboxes.length === 0 },
  actions: {
    recordEvent: emit(({ context }, message: EventMessage) => recordedEvent(involvedNode(context.nodeName), message)),
    requestGarbage: sendTo(parent<GarbageReport>(), { type: 'garbage.requested' }),
    recordFailure: assign(({ event }) => ({ failure: failureOf(event) })),
    recordGarbage: assign(({ event }) => {
      assertEvent(event, 'garbage.listed');
      return { garbage: event.garbage };
    }),
    clearGarbage: assign({ garbage: NO_GARBAGE }),
  },
}).createMachine({
  id: 'garbage',
  description: 'Garbage collection on the node: dead containers, old sandboxes, leftover pod files.',
  context: ({ input }) => ({ ...input, garbage: NO_GARBAGE }),
  // The first garbage collection runs immediately, because an earlier run of the agent may have left garbage. Later
  // ones run once a minute.
  initial: 'queryingNode',
  states: {
    waiting: {
      description: 'The next collection starts a minute after the last one.',
      tags: 'steady',
      meta: { waitsFor: 'the next garbage collection', afterMs: COLLECTION_INTERVAL_MS },
      entry: 'clearGarbage',
      invoke: after(COLLECTION_INTERVAL_MS),
      on: { 'timer.elapsed': 'queryingNode' },
    },
    queryingNode: {
      description: 'The node lists its pods and their dead containers.',
      tags: 'working',
      meta: { waitsFor: 'the node to list its pods' },
      entry: 'requestGarbage',
      on: {
        'garbage.listed': [{ target: 'removing', actions: 'recordGarbage' }],
      },
    },
    removing: {
      description: 'Dead containers beyond the number to retain are removed with their logs, and so are old sandboxes.',
      tags: 'working',
      meta: { waitsFor: 'dead containers and sandboxes to be removed' },
      always: { guard: 'hasNoGarbage', target: 'surveying' },
      invoke: {
        src: 'removeGarbage',
        input: ({ context: { garbage } }) => ({ containers: garbage.containers, sandboxes: garbage.sandboxes }),
        onDone: 'surveying',
        // Failed removals are retried in the next garbage collection.
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
        input: ({ context: { garbage } }) => ({ activePodUids: garbage.activePodUids, foreign: garbage.foreign }),
        onDone: {
          target: 'waiting',
          actions: [
            assign(({ event: { output } }) => (output.failure ? { failure: output.failure } : {})),
            sendTo(parent<GarbageReport>(), ({ event: { output } }) => ({
              type: 'garbage.podsFound' as const,
              left: output.left,
              foreign: output.foreign,
              removedUids: output.removedUids ?? [],
            })),
          ],
        },
        onError: { target: 'waiting', actions: 'recordFailure' },
      },
    },
  },
});
