/** A run has ended: the restart rules say what follows (C5), and when (C7). */
import { and } from 'xstate';
import { SHOWN_FAILED_MS } from '../../shared/waitingReason.ts';
import { recordBackOffEvent } from '../recordedEvents.ts';
import { containerSetup } from '../setup.ts';

/** Its crash-loop back-off ends for another reason than its time. */
const duringBackOff = {
  'container.update': [
    { guard: 'changesBackOffKey', target: '#container.pending.restarting', actions: ['update', 'forgetCrashes'] },
    { actions: 'update' },
  ],
  // Its sandbox was going when it was to start: nothing is wrong with the container itself.
  'sandbox.lost': [
    {
      guard: 'wasStartRefused',
      target: '#container.pending.restarting',
      actions: ['loseSandbox', 'forgetIt', 'forgetFailedStart'],
    },
    { actions: 'loseSandbox' },
  ],
} as const;

/** Init containers run again in a new sandbox (C3). */
const inNewSandbox = {
  'container.start': { guard: 'isInit', target: '#container.pending.restarting', actions: 'takeTurn' },
} as const;

export const ended = containerSetup.createStateConfig({
  initial: 'choosing',
  entry: ['endProbes', 'recordCause'],
  on: {
    'container.stop': { target: 'stopped', actions: 'stopForGood' },
    'container.reset': 'pending.reset',
  },
  states: {
    choosing: {
      tags: 'working',
      always: [
        { guard: 'mustStay', target: '#container.stopped' },
        { guard: 'mustReset', target: '#container.pending.reset' },
        { guard: 'restartsAll', target: 'awaitingReset' },
        { guard: and(['wantsRestart', 'backsOff', 'hasFailedToStart']), target: 'startFailed', actions: 'backOff' },
        { guard: and(['wantsRestart', 'backsOff']), target: 'backingOff', actions: 'backOff' },
        { guard: 'wantsRestart', target: '#container.pending.restarting', actions: 'backOff' },
        { guard: 'hasSucceeded', target: 'succeeded' },
        { target: 'failed' },
      ],
    },
    /** Why it did not start is shown before its back-off is (C16). */
    startFailed: {
      tags: 'retrying',
      meta: { waitsFor: 'the end of its crash-loop back-off', until: 'retryAt' },
      entry: { type: 'report', params: { lifecycle: 'delayed' } },
      invoke: {
        src: 'timer',
        input: ({ context: { crashDelayMs = 0 } }) => ({ after: Math.min(SHOWN_FAILED_MS, crashDelayMs) }),
      },
      on: { 'timer.elapsed': 'backingOff', ...duringBackOff },
    },
    /** CrashLoopBackOff (C7). */
    backingOff: {
      tags: 'retrying',
      meta: { waitsFor: 'the end of its crash-loop back-off', until: 'retryAt' },
      entry: ['showCrashLoop', { type: 'report', params: { lifecycle: 'delayed' } }, recordBackOffEvent],
      invoke: {
        src: 'timer',
        input: ({ context: { retryAt, crashDelayMs = 0 } }) =>
          retryAt > 0 ? { until: retryAt } : { after: crashDelayMs },
      },
      on: { 'timer.elapsed': '#container.pending.restarting', ...duringBackOff },
    },
    /** By its restart rules its end restarts the whole pod in place. */
    awaitingReset: {
      tags: 'waiting',
      meta: { waitsFor: 'all containers of its pod to restart' },
      entry: { type: 'report', params: { lifecycle: 'restartsAll' } },
      on: { 'sandbox.lost': { target: '#container.pending.reset', actions: 'loseSandbox' } },
    },
    succeeded: {
      tags: ['done', 'rests'],
      entry: { type: 'report', params: { lifecycle: 'succeeded' } },
      on: inNewSandbox,
    },
    failed: {
      tags: ['failed', 'rests'],
      entry: { type: 'report', params: { lifecycle: 'failed' } },
      on: inNewSandbox,
    },
  },
});
