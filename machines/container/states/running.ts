/** A container that runs: started once its startup probe has passed, and then probed. A part of the chart in chart.ts. */
import { assign } from 'xstate';
import { failureOf } from '../../shared/failure.ts';
import {
  failedProbe,
  recordOutdatedEvent,
  recordResizeEvent,
  recordStopEvent,
  recordUnknownStateEvent,
  statusUnknown,
} from '../recordedEvents.ts';
import { containerSetup } from '../setup.ts';
import { terminatedRun } from '../terminatedRun.ts';
import { awaitingResize, resizing } from './resizing.ts';

export const running = containerSetup.createStateConfig({
  tags: 'running',
  entry: ['forgetWaitingReason', 'reportSize'],
  initial: 'choosing',
  // The spec may have changed since it was made, also while the agent was away.
  always: [
    { guard: 'isOutdated', target: 'stopping', actions: ['askForNewOne', recordOutdatedEvent] },
    { guard: 'resizesByRestart', target: 'stopping', actions: ['askForNewOne', recordResizeEvent] },
  ],
  on: {
    'container.reset': { target: 'stopping', actions: 'askForReset' },
    'container.stop': { target: 'stopping', actions: ['stopForGood', recordStopEvent] },
    'sandbox.lost': { target: 'stopping', actions: ['loseSandbox', recordStopEvent] },
    'runtime.containerObserved': [
      { guard: 'showsEnd', target: 'ended', actions: 'recordEnd' },
      { guard: 'showsUnknown', target: 'stopping', actions: recordUnknownStateEvent },
      { guard: 'showsAbsence', target: '.verifying' },
    ],
    'probe.failed': {
      guard: 'isFatal',
      target: 'stopping',
      actions: ['condemn', { type: 'recordEvent', params: ({ context, event }) => failedProbe(context, event.kind) }],
    },
    'probe.succeeded': { guard: 'isStartup', target: '.begun' },
  },
  states: {
    choosing: {
      tags: 'working',
      always: [{ guard: 'mustStartUp', target: 'startingUp', actions: 'beginStartup' }, { target: 'begun' }],
    },
    /** Until its startup probe has passed it is not started, and nothing else is asked of it (C4). */
    startingUp: {
      tags: 'waiting',
      meta: { waitsFor: 'its startup probe' },
      entry: { type: 'report', params: { lifecycle: 'live' } },
      always: { guard: 'isMissized', target: 'resizing' },
    },
    begun: {
      tags: 'working',
      entry: ['endStartup', { type: 'report', params: { lifecycle: 'running' } }, 'beginProbes'],
      always: 'steady',
    },
    /** After what may come between while it starts up as well as later. */
    goingOn: { tags: 'working', always: [{ guard: 'mustStartUp', target: 'startingUp' }, { target: 'steady' }] },
    steady: { tags: 'steady', always: { guard: 'isMissized', target: 'resizing' } },
    resizing,
    awaitingResize,
    /** A list without it may be older than it: only the runtime's own word about it counts. */
    verifying: {
      tags: 'working',
      meta: { waitsFor: 'the runtime to report whether it still exists' },
      invoke: {
        src: 'inspectContainer',
        input: ({ context }) => ({ id: context.id ?? '' }),
        onDone: [
          {
            guard: { type: 'isAbsent', params: ({ event }) => event.output },
            target: '#container.ended',
            actions: 'recordUnknownEnd',
          },
          {
            guard: { type: 'isOver', params: ({ event }) => event.output },
            target: '#container.ended',
            actions: assign(({ event }) => (event.output ? { run: terminatedRun(event.output) } : {})),
          },
          {
            guard: { type: 'isUnknown', params: ({ event }) => event.output },
            target: '#container.stopping',
            actions: recordUnknownStateEvent,
          },
          { target: 'goingOn' },
        ],
        onError: {
          target: 'awaitingVerification',
          actions: [
            'recordCallFailure',
            { type: 'recordPodEvent', params: ({ event }) => statusUnknown(failureOf(event)) },
          ],
        },
      },
    },
    awaitingVerification: {
      tags: 'retrying',
      meta: { waitsFor: 'another attempt to ask the runtime whether it still exists', until: 'retryAt' },
      invoke: { src: 'timer', input: ({ context }) => ({ until: context.retryAt }) },
      on: { 'timer.elapsed': 'verifying', 'runtime.returned': 'verifying' },
    },
  },
});
