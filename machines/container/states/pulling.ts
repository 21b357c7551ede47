/** What a container needs before it is made: its volumes, and its image, pulled by its policy (C17). A part of the chart in chart.ts. */
import { assign, not } from 'xstate';
import { shownFailedMs } from '../../image/waitingReason.ts';
import { failureOf } from '../../shared/failure.ts';
import { specOf } from '../context.ts';
import {
  donePull,
  failedLook,
  failedPull,
  recordMissingImageEvent,
  recordPresentImageEvent,
  recordPullBackOffEvent,
  recordPullEvent,
} from '../recordedEvents.ts';
import { containerSetup } from '../setup.ts';

export const pulling = containerSetup.createStateConfig({
  initial: 'choosing',
  on: {
    'container.stop': { target: 'stopped', actions: 'stopForGood' },
    'container.reset': 'reset',
    'container.update': [
      { guard: 'changesIdentity', target: 'pulling', reenter: true, actions: 'update' },
      { actions: 'update' },
    ],
  },
  states: {
    choosing: { always: [{ guard: 'lacksVolume', target: 'awaitingVolumes' }, { target: 'checkingImage' }] },
    /** The image of a volume cannot be had, which holds up nobody who does not mount it (C16). */
    awaitingVolumes: {
      meta: { waitsFor: 'the volumes that it mounts' },
      entry: { type: 'report', params: { lifecycle: 'delayed' } },
      always: { guard: not('lacksVolume'), target: 'checkingImage' },
    },
    checkingImage: {
      meta: { waitsFor: 'the runtime to look for its image' },
      entry: { type: 'report', params: { lifecycle: 'coming' } },
      invoke: {
        src: 'findImage',
        input: ({ context }) => ({ pod: context.pod, image: specOf(context).image ?? '' }),
        onDone: [
          {
            guard: { type: 'needsNoPull', params: ({ event }) => event.output },
            target: 'found',
            actions: [
              assign(({ event }) => ({ imageRef: event.output.imageRef ?? undefined })),
              recordPresentImageEvent,
            ],
          },
          {
            guard: 'mayNotPull',
            target: 'missing',
          },
          { target: 'queued', actions: assign(({ event }) => ({ soughtAt: event.output.at })) },
        ],
        onError: {
          target: 'awaitingRetry',
          actions: [
            'recordLookFailure',
            { type: 'recordEvent', params: ({ context, event }) => failedLook(context, failureOf(event)) },
          ],
        },
      },
    },
    queued: {
      meta: { waitsFor: 'a pull slot' },
      entry: [recordPullEvent, 'requestPull'],
      on: { 'slot.granted': { target: 'fetching', actions: 'recordPullLimit' } },
    },
    fetching: {
      meta: { waitsFor: 'the pull of its image', until: 'pullBy' },
      exit: 'releasePull',
      invoke: {
        src: 'pullImage',
        input: ({ context }) => ({
          pod: context.pod,
          image: specOf(context).image ?? '',
          limitMs: context.pullLimitMs,
        }),
        onDone: {
          target: 'found',
          actions: [
            assign(({ event }) => ({ imageRef: event.output.imageRef, pullDelayMs: 0, failure: undefined })),
            { type: 'recordEvent', params: ({ context, event }) => donePull(context, event.output) },
          ],
        },
        onError: [
          { guard: 'isCutOff', target: 'awaitingRetry', actions: 'recordPullFailure' },
          {
            target: 'failed',
            actions: [
              'recordPullFailure',
              { type: 'recordEvent', params: ({ context, event }) => failedPull(context, failureOf(event)) },
            ],
          },
        ],
      },
    },
    /** The pull's own error is shown before its back-off is (C16). */
    failed: {
      meta: { waitsFor: 'another try to pull its image', until: 'retryAt' },
      entry: { type: 'report', params: { lifecycle: 'delayed' } },
      invoke: { src: 'timer', input: ({ context }) => ({ after: shownFailedMs(context) }) },
      on: { 'timer.elapsed': 'backingOff' },
    },
    backingOff: {
      meta: { waitsFor: 'another try to pull its image', until: 'retryAt' },
      entry: ['showPullBackOff', recordPullBackOffEvent],
      invoke: { src: 'timer', input: ({ context }) => ({ until: context.retryAt }) },
      on: { 'timer.elapsed': 'checkingImage' },
    },
    /** Absent, and the policy forbids to pull (C17): somebody may load it by hand, so it is looked for again. */
    missing: {
      meta: { waitsFor: 'its image to be loaded by hand (imagePullPolicy Never)', afterMs: 10_000 },
      entry: ['showAbsence', recordMissingImageEvent, { type: 'report', params: { lifecycle: 'delayed' } }],
      invoke: { src: 'timer', input: { after: 10_000 } },
      on: { 'timer.elapsed': 'checkingImage' },
    },
    awaitingRetry: {
      meta: { waitsFor: 'another try to pull its image', until: 'retryAt' },
      entry: { type: 'report', params: { lifecycle: 'delayed' } },
      invoke: { src: 'timer', input: ({ context }) => ({ until: context.retryAt }) },
      on: {
        'timer.elapsed': 'checkingImage',
        'runtime.returned': { guard: 'failedForRuntime', target: 'checkingImage' },
      },
    },
    found: { type: 'final', entry: 'forgetImageReason' },
  },
  exit: 'releasePull',
  onDone: [{ guard: 'hasNoPast', target: 'counting' }, { target: 'readyToCreate' }],
});
