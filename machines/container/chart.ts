/** One container of a pod over all its restarts. Its role is input; its pod decides when its turn has come. */
import { and, assign } from 'xstate';
import { failureOf } from '../shared/failure.ts';
import { hookRequest, initialContext, remains, terminatedRun } from './context.ts';
import {
  recordBackOffEvent,
  recordFailedPostStartEvent,
  recordOutdatedEvent,
  recordStopEvent,
  recordUnknownStateEvent,
  statusUnknown,
} from './recordedEvents.ts';
import { containerSetup } from './setup.ts';
import { counting } from './states/counting.ts';
import { launching } from './states/launching.ts';
import { pulling } from './states/pulling.ts';
import { running } from './states/running.ts';
import { stopping } from './states/stopping.ts';
import { SHOWN_FAILED_MS } from './waitingReason.ts';

/** Its crash-loop back-off ends for another reason than its time. */
const duringBackOff = {
  'container.reset': 'reset',
  'container.stop': { target: 'stopped', actions: 'stopForGood' },
  'container.update': [
    { guard: 'changesBackOffKey', target: 'restarting', actions: ['update', 'forgetCrashes'] },
    { actions: 'update' },
  ],
  // Its sandbox was going when it was to start: nothing is wrong with the container itself.
  'sandbox.lost': [
    { guard: 'wasStartRefused', target: 'restarting', actions: ['loseSandbox', 'forgetIt', 'forgetFailedStart'] },
    { actions: 'loseSandbox' },
  ],
} as const;

export const containerMachine = containerSetup.createMachine({
  id: 'container',
  context: ({ input }) => initialContext(input),
  initial: 'new',
  on: {
    'container.update': { actions: 'update' },
    'sandbox.ready': { actions: 'takeSandbox' },
    'sandbox.lost': { actions: 'loseSandbox' },
    'container.start': { actions: 'takeTurn' },
    'container.stop': { actions: 'stopForGood' },
    'container.reset': { actions: 'askForReset' },
  },
  states: {
    new: { always: [{ guard: 'neverMade', target: 'waiting' }, { target: 'adopting' }] },
    /** What does the runtime have of it already? After a restart of the agent this is where adoption happens. */
    adopting: {
      meta: { waitsFor: 'the runtime to tell what it has of it' },
      invoke: {
        src: 'inspectContainer',
        input: ({ context }) => ({ id: context.id ?? '' }),
        onDone: [
          {
            guard: { type: 'isAlive', params: ({ event }) => event.output },
            target: 'adopted',
            actions: [
              { type: 'recordMade', params: ({ event }) => event.output },
              assign(({ event }) => ({ startedAt: event.output?.startedAt, imageRef: event.output?.imageRef })),
            ],
          },
          // Whatever it is, it must not run beside the next one.
          {
            guard: { type: 'isUnknown', params: ({ event }) => event.output },
            target: 'stopping',
            actions: recordUnknownStateEvent,
          },
          {
            guard: { type: 'isOver', params: ({ event }) => event.output },
            target: 'waiting',
            actions: [
              { type: 'recordMade', params: ({ event }) => event.output },
              assign(({ event }) => (event.output ? { run: terminatedRun(event.output) } : {})),
            ],
          },
          // Half-made (created, never started) or gone: made anew under the same number.
          { target: 'waiting', actions: 'forgetIt' },
        ],
        onError: {
          target: 'awaitingAdoptRetry',
          actions: [
            'recordCallFailure',
            { type: 'recordPodEvent', params: ({ event }) => statusUnknown(failureOf(event)) },
          ],
        },
      },
      on: { 'runtime.containerObserved': { guard: 'showsEnd', actions: 'recordEnd' } },
    },
    adopted: {
      always: [
        { guard: 'hasSeenEnd', target: 'waiting' },
        { guard: 'mustStay', target: 'stopping', actions: recordStopEvent },
        { guard: 'mustReset', target: 'stopping' },
        { guard: 'hasLostSandbox', target: 'stopping', actions: recordStopEvent },
        { target: 'running' },
      ],
    },
    awaitingAdoptRetry: {
      meta: { waitsFor: 'another try to ask the runtime what it has of it', until: 'retryAt' },
      invoke: { src: 'timer', input: ({ context }) => ({ until: context.retryAt }) },
      on: {
        'timer.elapsed': 'adopting',
        'runtime.returned': 'adopting',
      },
    },
    waiting: {
      meta: { waitsFor: 'the containers before it' },
      entry: { type: 'report', params: { lifecycle: 'pending' } },
      always: [
        { guard: 'mustStay', target: 'stopped' },
        { guard: 'mustReset', target: 'reset' },
        { guard: and(['hasTurn', 'hasRun']), target: 'exited' },
        { guard: 'hasTurn', target: 'pulling' },
      ],
    },
    pulling,
    counting,
    /** All that it needs itself is there: its pod says when (C9), in a new sandbox after it has had its turn anew (C3). */
    readyToCreate: {
      meta: { waitsFor: 'its pod to start it, one after the other' },
      entry: { type: 'report', params: { lifecycle: 'readyToCreate' } },
      always: { guard: 'mustStay', target: 'stopped' },
      on: {
        'container.launch': { guard: 'mayLaunch', target: 'launching' },
        // A start whose answer was lost may have worked.
        'container.stop': [
          { guard: 'neverMade', target: 'stopped', actions: 'stopForGood' },
          { target: 'stopping', actions: ['stopForGood', recordStopEvent] },
        ],
        'container.reset': [
          { guard: 'neverMade', target: 'reset' },
          { target: 'stopping', actions: 'askForReset' },
        ],
        'container.update': [
          { guard: and(['changesIdentity', 'neverMade']), target: 'pulling', actions: 'update' },
          { guard: 'changesIdentity', target: 'stopping', actions: ['update', 'askForNewOne', recordOutdatedEvent] },
          { actions: 'update' },
        ],
        'sandbox.lost': { actions: ['loseSandbox', 'forgetIt'] },
      },
    },
    launching,
    awaitingRelaunch: {
      meta: { waitsFor: 'another try to start it', until: 'retryAt' },
      entry: { type: 'report', params: { lifecycle: 'live' } },
      invoke: { src: 'timer', input: ({ context }) => ({ until: context.retryAt }) },
      on: {
        'timer.elapsed': 'readyToCreate',
        'runtime.returned': { guard: 'failedForRuntime', target: 'readyToCreate' },
        'container.reset': { target: 'stopping', actions: 'askForReset' },
        // An earlier call may have made it although its answer was lost.
        'container.stop': { target: 'stopping', actions: ['stopForGood', recordStopEvent] },
        'container.update': [
          { guard: and(['changesIdentity', 'neverMade']), target: 'pulling', actions: 'update' },
          // A start whose answer was lost may have worked.
          { guard: 'changesIdentity', target: 'stopping', actions: ['update', 'askForNewOne', recordOutdatedEvent] },
          { actions: 'update' },
        ],
        'sandbox.lost': { target: 'readyToCreate', actions: ['loseSandbox', 'forgetIt'] },
      },
    },
    started: {
      always: [{ guard: 'hasPostStart', target: 'runningPostStart' }, { target: 'running' }],
    },
    /** The postStart hook: it holds up the other containers of the pod (C9), and when it fails this one is killed (C10). */
    runningPostStart: {
      meta: { waitsFor: 'its postStart hook' },
      invoke: {
        src: 'runHook',
        input: ({ context }) => hookRequest(context, 'postStart', undefined),
        onDone: [
          {
            guard: { type: 'hasHookFailed', params: ({ event }) => event.output },
            target: 'stopping',
            actions: [
              {
                type: 'recordFailedPostStart',
                params: ({ event }) => failureOf({ ...event, error: event.output.failure }),
              },
              recordFailedPostStartEvent,
            ],
          },
          {
            target: 'running',
            actions: { type: 'recordPodEvent', params: ({ event }) => event.output.warnings ?? [] },
          },
        ],
        onError: {
          target: 'stopping',
          actions: [
            { type: 'recordFailedPostStart', params: ({ event }) => failureOf(event) },
            recordFailedPostStartEvent,
          ],
        },
      },
      on: {
        'container.reset': { target: 'stopping', actions: 'askForReset' },
        'container.stop': { target: 'stopping', actions: ['stopForGood', recordStopEvent] },
        'sandbox.lost': { target: 'stopping', actions: ['loseSandbox', recordStopEvent] },
        'runtime.containerObserved': { guard: 'showsEnd', target: 'exited', actions: 'recordEnd' },
      },
    },
    running,
    stopping,
    exited: {
      entry: ['endProbes', 'recordCause'],
      always: [
        { guard: 'mustStay', target: 'stopped' },
        { guard: 'mustReset', target: 'reset' },
        { guard: 'restartsAll', target: 'awaitingReset' },
        { guard: and(['wantsRestart', 'backsOff', 'hasFailedToStart']), target: 'startFailed', actions: 'backOff' },
        { guard: and(['wantsRestart', 'backsOff']), target: 'backingOff', actions: 'backOff' },
        { guard: 'wantsRestart', target: 'restarting', actions: 'backOff' },
        { target: 'finished' },
      ],
    },
    /** Why it did not start is shown before its back-off is (C16). */
    startFailed: {
      meta: { waitsFor: 'the end of its crash-loop back-off', until: 'retryAt' },
      entry: { type: 'report', params: { lifecycle: 'delayed' } },
      invoke: {
        src: 'timer',
        input: ({ context: { crashDelayMs = 0 } }) => ({ after: Math.min(SHOWN_FAILED_MS, crashDelayMs) }),
      },
      on: {
        'timer.elapsed': 'backingOff',
        ...duringBackOff,
      },
    },
    /** By its restart rules its end restarts the whole pod in place. */
    awaitingReset: {
      meta: { waitsFor: 'all containers of its pod to restart' },
      entry: { type: 'report', params: { lifecycle: 'restartsAll' } },
      on: {
        'container.reset': 'reset',
        'sandbox.lost': { target: 'reset', actions: 'loseSandbox' },
        'container.stop': { target: 'stopped', actions: 'stopForGood' },
      },
    },
    reset: { entry: 'resetAttempt', always: 'waiting' },
    /** CrashLoopBackOff (C7). */
    backingOff: {
      meta: { waitsFor: 'the end of its crash-loop back-off', until: 'retryAt' },
      entry: ['showCrashLoop', { type: 'report', params: { lifecycle: 'delayed' } }, recordBackOffEvent],
      invoke: {
        src: 'timer',
        input: ({ context: { retryAt, crashDelayMs = 0 } }) =>
          retryAt > 0 ? { until: retryAt } : { after: crashDelayMs },
      },
      on: {
        'timer.elapsed': 'restarting',
        ...duringBackOff,
      },
    },
    restarting: { entry: 'beginAttempt', always: 'pulling' },
    finished: {
      initial: 'choosing',
      on: {
        // Init containers run again in a new sandbox (C3).
        'container.start': { guard: 'isInit', target: 'restarting', actions: 'takeTurn' },
        'container.reset': 'reset',
        'container.stop': { target: 'stopped', actions: 'stopForGood' },
      },
      states: {
        choosing: { always: [{ guard: 'hasSucceeded', target: 'succeeded' }, { target: 'failed' }] },
        succeeded: { entry: { type: 'report', params: { lifecycle: 'succeeded' } } },
        failed: { entry: { type: 'report', params: { lifecycle: 'failed' } } },
      },
    },
    stopped: {
      entry: { type: 'report', params: { lifecycle: 'stopped' } },
      always: { guard: 'leavesNothing', target: 'removing' },
    },
    /** An update took it out: nothing of it is left behind while its pod goes on. */
    removing: {
      initial: 'asking',
      states: {
        asking: {
          meta: { waitsFor: 'its container to be removed' },
          invoke: {
            src: 'removeContainers',
            input: ({ context }) => ({ ids: remains(context) }),
            onDone: '#container.removed',
            onError: { target: 'awaitingRetry', actions: 'recordCallFailure' },
          },
        },
        awaitingRetry: {
          meta: { waitsFor: 'another try to remove its container', until: 'retryAt' },
          invoke: { src: 'timer', input: ({ context }) => ({ until: context.retryAt }) },
          on: { 'timer.elapsed': 'asking', 'runtime.returned': 'asking' },
        },
      },
    },
    removed: { entry: { type: 'report', params: { lifecycle: 'removed' } } },
  },
});
