/** All that a container needs itself is there: it is made and started when its pod says so, while it holds a start slot. */
import { and, assign } from 'xstate';
import { failureOf } from '../../shared/failure.ts';
import { hookRequest } from '../context.ts';
import {
  launchFailed,
  recordCreationEvent,
  recordFailedPostStartEvent,
  recordOutdatedEvent,
  recordStartEvent,
  recordStopEvent,
} from '../recordedEvents.ts';
import { containerSetup } from '../setup.ts';
import { terminatedRun } from '../terminatedRun.ts';

/** The call that is on its way is awaited: what it makes must be known to be removed. */
const afterTheCall = {
  'container.stop': { actions: 'stopForGood' },
  'container.reset': { actions: 'askForReset' },
  'container.update': { actions: 'update' },
} as const;

export const launching = containerSetup.createStateConfig({
  initial: 'readyToCreate',
  on: {
    // A start whose answer was lost may have worked.
    'container.stop': [
      { guard: 'neverMade', target: 'stopped', actions: 'stopForGood' },
      { target: 'stopping', actions: ['stopForGood', recordStopEvent] },
    ],
    'container.reset': [
      { guard: 'neverMade', target: 'pending.reset' },
      { target: 'stopping', actions: 'askForReset' },
    ],
    'container.update': [
      { guard: and(['changesIdentity', 'neverMade']), target: 'pending.choosing', actions: 'update' },
      { guard: 'changesIdentity', target: 'stopping', actions: ['update', 'askForNewOne', recordOutdatedEvent] },
      { actions: 'update' },
    ],
    'sandbox.lost': { target: '.readyToCreate', actions: ['loseSandbox', 'forgetIt'] },
  },
  states: {
    /** Its pod says when (C9), in a new sandbox after it has had its turn again (C3). */
    readyToCreate: {
      tags: ['waiting', 'readyToCreate'],
      meta: { waitsFor: 'its turn to start, as containers start one at a time' },
      entry: { type: 'report', params: { lifecycle: 'readyToCreate' } },
      always: [
        { guard: 'mustStay', target: '#container.stopped' },
        { guard: 'mustReset', target: '#container.pending.reset' },
      ],
      on: { 'container.launch': { guard: 'mayLaunch', target: 'making' } },
    },
    making: {
      tags: 'making',
      entry: [{ type: 'report', params: { lifecycle: 'launching' } }, 'requestSlot'],
      exit: 'releaseSlot',
      initial: 'queued',
      states: {
        queued: {
          tags: 'waiting',
          meta: { waitsFor: 'a start slot' },
          // A start without an answer is asked for again: it may have worked.
          on: { 'slot.granted': [{ guard: 'neverMade', target: 'creating' }, { target: 'starting' }] },
        },
        creating: {
          tags: 'working',
          meta: { waitsFor: 'the runtime to create it' },
          entry: 'recordIdentity',
          on: afterTheCall,
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
              { guard: 'mustReset', target: '#container.pending.reset' },
              {
                target: '#container.launching.awaitingRetry',
                actions: [
                  'recordFailedCreate',
                  { type: 'recordEvent', params: ({ event }) => launchFailed(failureOf(event)) },
                ],
              },
            ],
          },
        },
        starting: {
          tags: 'working',
          meta: { waitsFor: 'the runtime to start it' },
          invoke: {
            src: 'startContainer',
            input: ({ context }) => ({ pod: context.pod, container: context.name, id: context.id ?? '' }),
            onDone: [
              {
                guard: 'hasSeenEnd',
                target: '#container.ended',
                actions: [
                  assign(({ event }) => ({ made: event.output.made, failure: undefined, waitingReason: undefined })),
                  recordStartEvent,
                ],
              },
              {
                guard: { type: 'isOver', params: ({ event }) => event.output },
                target: '#container.ended',
                actions: [
                  assign(({ event: { output } }) => ({
                    ...{ run: terminatedRun(output), made: output.made },
                    ...{ failure: undefined, waitingReason: undefined },
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
                target: '#container.launching.started',
                actions: [
                  assign(({ event: { output } }) => ({
                    ...{ startedAt: output.startedAt, made: output.made, failure: undefined },
                  })),
                  recordStartEvent,
                ],
              },
            ],
            onError: [
              {
                guard: 'hasSeenEnd',
                target: '#container.ended',
                actions: assign({ failure: undefined, waitingReason: undefined }),
              },
              { guard: 'mustStay', target: '#container.stopping', actions: recordStopEvent },
              {
                guard: 'isStartRefused',
                target: '#container.ended',
                actions: [
                  'recordFailedStart',
                  { type: 'recordEvent', params: ({ event }) => launchFailed(failureOf(event)) },
                ],
              },
              // It may run all the same: the same attempt is launched again, and finds it.
              { target: '#container.launching.awaitingRetry', actions: 'recordCallFailure' },
            ],
          },
          // One that ends at once is heard of before the call that started it has answered.
          on: { ...afterTheCall, 'runtime.containerObserved': { guard: 'showsEnd', actions: 'recordEnd' } },
        },
      },
    },
    awaitingRetry: {
      tags: 'retrying',
      meta: { waitsFor: 'another attempt to start it', until: 'retryAt' },
      entry: { type: 'report', params: { lifecycle: 'live' } },
      invoke: { src: 'timer', input: ({ context }) => ({ until: context.retryAt }) },
      on: {
        'timer.elapsed': 'readyToCreate',
        'runtime.returned': { guard: 'failedForRuntime', target: 'readyToCreate' },
      },
    },
    started: {
      tags: 'working',
      always: [{ guard: 'hasPostStart', target: 'runningPostStart' }, { target: '#container.running' }],
    },
    /** The postStart hook: it holds up the other containers of the pod (C9), and when it fails this one is killed (C10). */
    runningPostStart: {
      tags: ['working', 'runningPostStart'],
      meta: { waitsFor: 'its postStart hook' },
      invoke: {
        src: 'runHook',
        input: ({ context }) => hookRequest(context, 'postStart', undefined),
        onDone: [
          {
            guard: { type: 'hasHookFailed', params: ({ event }) => event.output },
            target: '#container.stopping',
            actions: [
              {
                type: 'recordFailedPostStart',
                params: ({ event }) => failureOf({ ...event, error: event.output.failure }),
              },
              recordFailedPostStartEvent,
            ],
          },
          {
            target: '#container.running',
            actions: { type: 'recordPodEvent', params: ({ event }) => event.output.warnings ?? [] },
          },
        ],
        onError: {
          target: '#container.stopping',
          actions: [
            { type: 'recordFailedPostStart', params: ({ event }) => failureOf(event) },
            recordFailedPostStartEvent,
          ],
        },
      },
      on: {
        // It is looked at when the hook is done.
        'container.update': { actions: 'update' },
        'sandbox.lost': { target: '#container.stopping', actions: ['loseSandbox', recordStopEvent] },
        'runtime.containerObserved': { guard: 'showsEnd', target: '#container.ended', actions: 'recordEnd' },
      },
    },
  },
});
