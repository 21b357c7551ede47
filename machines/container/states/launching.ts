/** A container is made and started while it holds a start slot. A part of the chart in chart.ts. */
import { and, assign } from 'xstate';
import { failureOf } from '../../shared/failure.ts';
import { terminatedRun } from '../context.ts';
import {
  launchFailed,
  recordCreationEvent,
  recordOutdatedEvent,
  recordStartEvent,
  recordStopEvent,
} from '../recordedEvents.ts';
import { containerSetup } from '../setup.ts';

export const launching = containerSetup.createStateConfig({
  entry: [{ type: 'report', params: { lifecycle: 'launching' } }, 'requestSlot'],
  exit: 'releaseSlot',
  initial: 'queued',
  on: { 'sandbox.lost': { target: 'readyToCreate', actions: ['loseSandbox', 'forgetIt'] } },
  states: {
    queued: {
      meta: { waitsFor: 'a start slot' },
      on: {
        // A start without an answer is asked for again: it may have worked.
        'slot.granted': [{ guard: 'neverMade', target: 'creating' }, { target: 'starting' }],
        'container.stop': [
          { guard: 'neverMade', target: '#container.stopped', actions: 'stopForGood' },
          { target: '#container.stopping', actions: ['stopForGood', recordStopEvent] },
        ],
        'container.reset': [
          { guard: 'neverMade', target: '#container.reset' },
          { target: '#container.stopping', actions: 'askForReset' },
        ],
        'container.update': [
          { guard: and(['changesIdentity', 'neverMade']), target: '#container.pulling', actions: 'update' },
          {
            guard: 'changesIdentity',
            target: '#container.stopping',
            actions: ['update', 'askForNewOne', recordOutdatedEvent],
          },
          { actions: 'update' },
        ],
      },
    },
    // On a stop the call is awaited: what it makes must be known to be removed.
    creating: {
      meta: { waitsFor: 'the container to be created' },
      entry: 'recordIdentity',
      invoke: {
        src: 'createContainer',
        input: ({ context }) => ({
          pod: context.pod,
          container: context.name,
          // The state is entered with a sandbox only (`mayLaunch`), and left when that is lost.
          sandbox: context.sandbox as NonNullable<typeof context.sandbox>,
          attempt: context.attempt,
          imageRef: context.imageRef ?? '',
          volumes: context.volumes,
        }),
        onDone: [
          // It never ran: it goes with its sandbox.
          { guard: 'mustStay', target: '#container.stopped' },
          {
            guard: 'mustReset',
            target: '#container.stopping',
            actions: assign(({ event }) => ({ id: event.output.id })),
          },
          {
            target: 'starting',
            actions: [assign(({ event }) => ({ id: event.output.id })), recordCreationEvent],
          },
        ],
        onError: [
          { guard: 'mustStay', target: '#container.stopped' },
          { guard: 'mustReset', target: '#container.reset' },
          {
            target: '#container.awaitingRelaunch',
            actions: [
              'recordFailedCreate',
              { type: 'recordEvent', params: ({ event }) => launchFailed(failureOf(event)) },
            ],
          },
        ],
      },
    },
    starting: {
      meta: { waitsFor: 'the container to be started' },
      invoke: {
        src: 'startContainer',
        input: ({ context }) => ({ pod: context.pod, container: context.name, id: context.id ?? '' }),
        onDone: [
          {
            guard: 'hasSeenEnd',
            target: '#container.exited',
            actions: [
              assign(({ event }) => ({ made: event.output.made, failure: undefined, waitingReason: undefined })),
              recordStartEvent,
            ],
          },
          {
            guard: { type: 'isOver', params: ({ event }) => event.output },
            target: '#container.exited',
            actions: [
              assign(({ event: { output } }) => ({
                run: terminatedRun(output),
                made: output.made,
                failure: undefined,
                waitingReason: undefined,
              })),
              recordStartEvent,
            ],
          },
          {
            guard: 'mustStay',
            target: '#container.stopping',
            actions: [
              assign(({ event: { output } }) => ({ startedAt: output.startedAt, made: output.made })),
              recordStartEvent,
              recordStopEvent,
            ],
          },
          {
            target: '#container.started',
            actions: [
              assign(({ event: { output } }) => ({
                startedAt: output.startedAt,
                made: output.made,
                failure: undefined,
              })),
              recordStartEvent,
            ],
          },
        ],
        onError: [
          {
            guard: 'hasSeenEnd',
            target: '#container.exited',
            actions: assign({ failure: undefined, waitingReason: undefined }),
          },
          { guard: 'mustStay', target: '#container.stopping', actions: recordStopEvent },
          {
            guard: 'isStartRefused',
            target: '#container.exited',
            actions: [
              'recordFailedStart',
              { type: 'recordEvent', params: ({ event }) => launchFailed(failureOf(event)) },
            ],
          },
          // It may run all the same: the same attempt is launched again, and finds it.
          { target: '#container.awaitingRelaunch', actions: 'recordCallFailure' },
        ],
      },
      // One that ends at once is heard of before the call that started it has answered.
      on: { 'runtime.containerObserved': { guard: 'showsEnd', actions: 'recordEnd' } },
    },
  },
});
