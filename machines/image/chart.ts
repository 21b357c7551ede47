/** One image that a container or a volume needs. It is checked, and pulled by its policy (C17). */
import { assign } from 'xstate';
import { failureOf } from '../shared/failure.ts';
import type { Seen } from '../shared/stateMeta.ts';
import { FAILURE_SHOWN_MS } from '../shared/waitingReason.ts';
import { imageError, imageMissing, pullBacksOff, pullBegins, pullDone, pullFailed } from './recordedEvents.ts';
import { type ImageContext, imageSetup } from './setup.ts';

/** Interval between two checks for an image that must not be pulled. */
const RECHECK_MS = 10_000;

export const imageMachine = imageSetup.createMachine({
  id: 'image',
  description: 'One image needed by a container or a volume: checked, and pulled by its pull policy.',
  meta: {
    moments: ({ since, snapshot: { context } }: Seen<ImageContext>) => ({
      pullBy: context.limitMs === undefined ? undefined : since + context.limitMs,
      retryAt: since + context.waitMs,
    }),
    named: (waitsFor: string, { snapshot: { context } }: Seen<ImageContext>) =>
      waitsFor.replace('its image', () => `image ${context.image}`),
    facts: ({ snapshot: { context } }: Seen<ImageContext>) => ({ name: context.image }),
  },
  context: ({ input }) => ({ ...input, imageRef: '', foundAbsentAt: 0, waitMs: 0 }),
  initial: 'checking',
  on: { 'image.update': { actions: 'update' } },
  output: ({ context }) => ({ imageRef: context.imageRef }),
  states: {
    checking: {
      tags: 'working',
      meta: { waitsFor: 'the runtime to look for its image' },
      entry: { type: 'report', params: { isDelayed: false } },
      invoke: {
        src: 'findImage',
        input: ({ context: { pod, image, policy } }) => ({ pod, image, policy }),
        onDone: [
          {
            guard: { type: 'needsNoPull', params: ({ event }) => event.output },
            target: 'found',
            actions: [
              { type: 'warnPod', params: ({ event }) => event.output },
              { type: 'recordPresentImage', params: ({ event }) => event.output },
            ],
          },
          {
            guard: 'mayNotPull',
            target: 'missing',
            actions: { type: 'warnPod', params: ({ event }) => event.output },
          },
          {
            target: 'queued',
            actions: [
              { type: 'warnPod', params: ({ event }) => event.output },
              assign(({ event }) => ({ foundAbsentAt: event.output.at })),
            ],
          },
        ],
        onError: { target: 'awaitingRetry', actions: ['recordCheckFailure', 'recordCheckFailureEvents'] },
      },
    },
    queued: {
      tags: 'waiting',
      meta: { waitsFor: 'a pull slot' },
      entry: [
        { type: 'recordEvent', params: ({ context }) => (context.followsSameImage ? [] : pullBegins(context.image)) },
        'requestSlot',
      ],
      on: {
        'slot.granted': [
          { guard: 'mayBePresent', target: 'checkingAgain', actions: 'recordLimit' },
          { target: 'pulling', actions: 'recordLimit' },
        ],
      },
    },
    /** The slot was granted after a wait. Meanwhile another container of the pod may have pulled the same image. */
    checkingAgain: {
      tags: 'working',
      meta: { waitsFor: 'the runtime to look for its image again' },
      invoke: {
        src: 'findImage',
        input: ({ context: { pod, image, policy } }) => ({ pod, image, policy }),
        onDone: [
          {
            guard: { type: 'needsNoPull', params: ({ event }) => event.output },
            target: 'found',
            actions: ['releaseSlot', { type: 'recordPresentImage', params: ({ event }) => event.output }],
          },
          { target: 'pulling' },
        ],
        onError: {
          target: 'awaitingRetry',
          actions: ['recordCheckFailure', 'recordCheckFailureEvents', 'releaseSlot'],
        },
      },
    },
    pulling: {
      tags: 'working',
      meta: { waitsFor: 'the pull of its image', until: 'pullBy' },
      entry: {
        type: 'recordEvent',
        params: ({ context }) => (context.followsSameImage ? pullBegins(context.image) : []),
      },
      exit: 'releaseSlot',
      invoke: {
        src: 'pullImage',
        input: ({ context: { pod, image, limitMs } }) => ({ pod, image, limitMs }),
        onDone: {
          target: 'found',
          actions: [
            assign(({ event }) => ({ imageRef: event.output.imageRef })),
            {
              type: 'recordEvent',
              params: ({ context, event }) => pullDone(context.image, context.foundAbsentAt, event.output),
            },
          ],
        },
        onError: [
          { guard: 'wasInterrupted', target: 'awaitingRetry', actions: 'recordPullFailure' },
          {
            target: 'failed',
            actions: [
              'recordPullFailure',
              { type: 'recordEvent', params: ({ context, event }) => pullFailed(context.image, failureOf(event)) },
              { type: 'recordEventOfBlocked', params: ({ event }) => imageError(failureOf(event).reason) },
            ],
          },
        ],
      },
    },
    /** The pull's own error is reported before its back-off is (C16). */
    failed: {
      tags: 'retrying',
      meta: { waitsFor: 'another attempt to pull its image', until: 'retryAt' },
      entry: { type: 'report', params: { isDelayed: true } },
      invoke: { src: 'timer', input: ({ context }) => ({ after: Math.min(FAILURE_SHOWN_MS, context.waitMs) }) },
      on: { 'timer.elapsed': { target: 'backingOff', actions: 'deductShownTime' } },
    },
    backingOff: {
      tags: 'retrying',
      meta: { waitsFor: 'another attempt to pull its image', until: 'retryAt' },
      entry: [
        'showBackOff',
        { type: 'recordEvent', params: ({ context }) => pullBacksOff(context.image) },
        { type: 'recordEventOfBlocked', params: imageError('ImagePullBackOff') },
        { type: 'report', params: { isDelayed: true } },
      ],
      invoke: { src: 'timer', input: ({ context }) => ({ after: context.waitMs }) },
      on: { 'timer.elapsed': 'checking' },
    },
    /** The image is absent and its policy forbids pulling. It is checked again, because it may be loaded by hand. */
    missing: {
      tags: 'waiting',
      meta: { waitsFor: 'its image to be loaded by hand (pull policy Never)', afterMs: RECHECK_MS },
      entry: [
        'showAbsence',
        { type: 'recordEvent', params: ({ context }) => imageMissing(context.image) },
        { type: 'recordEventOfBlocked', params: imageError('ErrImageNeverPull') },
        { type: 'report', params: { isDelayed: true } },
      ],
      invoke: { src: 'timer', input: { after: RECHECK_MS } },
      on: { 'timer.elapsed': 'checking' },
    },
    /** The check failed, or the runtime became unavailable during the pull. */
    awaitingRetry: {
      tags: 'retrying',
      meta: { waitsFor: 'another attempt to pull its image', until: 'retryAt' },
      entry: { type: 'report', params: { isDelayed: true } },
      invoke: { src: 'timer', input: ({ context }) => ({ after: context.waitMs }) },
      on: {
        'timer.elapsed': 'checking',
        'runtime.returned': { guard: 'failedForRuntime', target: 'checking' },
      },
    },
    found: { type: 'final', tags: 'done' },
  },
});
