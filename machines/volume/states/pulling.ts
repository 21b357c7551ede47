/** The image that a volume shows: looked for, and pulled by its policy (C17). A part of the chart in chart.ts. */
import { assign } from 'xstate';
import {
  imageError,
  imageMissing,
  imagePresent,
  inspectionFailed,
  lookError,
  pullBacksOff,
  pullBegins,
  pullDone,
  pullFailed,
} from '../../image/recordedEvents.ts';
import { shownFailedMs } from '../../image/waitingReason.ts';
import { failureOf, isRuntimeAway } from '../../shared/failure.ts';
import { referenceOf, volumeSetup } from '../setup.ts';

/** What the kubelet says of each container that the volume holds. */
const recordHeldEvent = (reason: string) => ({ type: 'recordEventOfHeld' as const, params: imageError(reason) });

export const pulling = volumeSetup.createStateConfig({
  initial: 'checkingImage',
  on: {
    'volume.unmount': 'unmounting',
    'volume.update': { actions: 'update' },
  },
  exit: 'releasePull',
  onDone: 'mounted',
  states: {
    checkingImage: {
      meta: { waitsFor: 'the runtime to look for its image' },
      invoke: {
        src: 'findImage',
        input: ({ context }) => ({ pod: context.pod, image: referenceOf(context) }),
        onDone: [
          {
            guard: { type: 'needsNoPull', params: ({ event }) => event.output },
            target: 'found',
            actions: [
              assign(({ event }) => ({ mounted: { kind: 'image' as const, imageRef: event.output.imageRef ?? '' } })),
              { type: 'recordEvent', params: ({ context }) => imagePresent(referenceOf(context)) },
            ],
          },
          { guard: 'mayNotPull', target: 'missing' },
          { target: 'queued', actions: assign(({ event }) => ({ soughtAt: event.output.at })) },
        ],
        onError: {
          target: 'awaitingRetry',
          actions: [
            'recordLookFailure',
            {
              type: 'recordEvent',
              params: ({ context, event }) => inspectionFailed(referenceOf(context), failureOf(event)),
            },
            {
              type: 'recordEventOfHeld',
              params: ({ event }) => {
                const failure = failureOf(event);
                return isRuntimeAway(failure) ? [] : imageError(lookError(failure));
              },
            },
          ],
        },
      },
    },
    queued: {
      meta: { waitsFor: 'a pull slot' },
      entry: [{ type: 'recordEvent', params: ({ context }) => pullBegins(referenceOf(context)) }, 'requestPull'],
      on: { 'slot.granted': { target: 'fetching', actions: 'recordPullLimit' } },
    },
    fetching: {
      meta: { waitsFor: 'the pull of its image', until: 'pullBy' },
      exit: 'releasePull',
      invoke: {
        src: 'pullImage',
        input: ({ context }) => ({
          pod: context.pod,
          image: referenceOf(context),
          limitMs: context.pullLimitMs,
        }),
        onDone: {
          target: 'found',
          actions: [
            assign(({ event }) => ({ mounted: { kind: 'image' as const, imageRef: event.output.imageRef } })),
            {
              type: 'recordEvent',
              params: ({ context, event }) => pullDone(referenceOf(context), context.soughtAt, event.output),
            },
          ],
        },
        onError: [
          { guard: 'isCutOff', target: 'awaitingRetry', actions: 'recordPullFailure' },
          {
            target: 'failed',
            actions: [
              'recordPullFailure',
              {
                type: 'recordEvent',
                params: ({ context, event }) => pullFailed(referenceOf(context), failureOf(event)),
              },
              { type: 'recordEventOfHeld', params: ({ event }) => imageError(failureOf(event).reason) },
            ],
          },
        ],
      },
    },
    /** The pull's own error is shown before its back-off is (C16). */
    failed: {
      meta: { waitsFor: 'another try to pull its image', until: 'retryAt' },
      entry: 'reportDelay',
      invoke: { src: 'timer', input: ({ context }) => ({ after: shownFailedMs(context) }) },
      on: { 'timer.elapsed': 'backingOff' },
    },
    backingOff: {
      meta: { waitsFor: 'another try to pull its image', until: 'retryAt' },
      entry: [
        'showPullBackOff',
        { type: 'recordEvent', params: ({ context }) => pullBacksOff(referenceOf(context)) },
        recordHeldEvent('ImagePullBackOff'),
      ],
      invoke: { src: 'timer', input: ({ context }) => ({ until: context.retryAt }) },
      on: { 'timer.elapsed': 'checkingImage' },
    },
    /** Absent, and the policy forbids to pull: somebody may load it by hand, so it is looked for again. */
    missing: {
      meta: { waitsFor: 'its image to be loaded by hand (pullPolicy Never)', afterMs: 10_000 },
      entry: [
        'reportDelay',
        'showAbsence',
        { type: 'recordEvent', params: ({ context }) => imageMissing(referenceOf(context)) },
        recordHeldEvent('ErrImageNeverPull'),
      ],
      invoke: { src: 'timer', input: { after: 10_000 } },
      on: { 'timer.elapsed': 'checkingImage' },
    },
    awaitingRetry: {
      meta: { waitsFor: 'another try to pull its image', until: 'retryAt' },
      entry: 'reportDelay',
      invoke: { src: 'timer', input: ({ context }) => ({ until: context.retryAt }) },
      on: {
        'timer.elapsed': 'checkingImage',
        'runtime.returned': { guard: 'failedForRuntime', target: 'checkingImage' },
      },
    },
    found: { type: 'final', entry: 'forgetImageReason' },
  },
});
