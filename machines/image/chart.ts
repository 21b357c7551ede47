/**
 * Ensures that an image that a container or a volume needs is present, and pulls it according to its policy (C17).
 */
import { assign } from 'xstate';
import type { ActorInfo } from '../shared/stateMeta.ts';
import { FAILURE_DISPLAY_MS } from '../shared/views/waitingReason.ts';
import { failureOf } from '../shared/waiting/failure.ts';
import { after } from '../shared/waiting/waits.ts';
import {
  imageErrorEvent,
  imageMissingEvent,
  pullBackOffEvent,
  pulledEvent,
  pullFailedEvents,
  pullingEvent,
} from './recordedEvents.ts';
import { type ImageContext, imageSetup } from './setup.ts';

/** Interval in milliseconds between two checks for an image that must not be pulled. */
const RECHECK_MS = 10_000;

export const imageMachine = imageSetup.createMachine({
  id: 'image',
  description: 'One image needed by a container or a volume: checked, and pulled by its pull policy.',
  meta: {
    deadlines: ({ since, snapshot: { context } }: ActorInfo<ImageContext>) => ({
      pullBy: context.limitMs === undefined ? undefined : since + context.limitMs,
      retryAt: since + context.waitMs,
    }),
    formatWait: (waitsFor: string, { snapshot: { context } }: ActorInfo<ImageContext>) =>
      waitsFor.replace('its image', () => `image ${context.image}`),
    facts: ({ snapshot: { context } }: ActorInfo<ImageContext>) => ({ name: context.image }),
  },
  context: ({ input }) => ({ ...input, imageRef: '', foundAbsentAt: 0, waitMs: 0 }),
  initial: 'checking',
  on: { 'image.update': { actions: 'recordUpdate' } },
  output: ({ context }) => ({ imageRef: context.imageRef }),
  states: {
    checking: {
      description: 'The runtime reports whether it has the image.',
      tags: 'working',
      meta: { waitsFor: 'the runtime to look for its image', rules: ['C17'], layout: { column: 1 } },
      entry: { type: 'reportProgress', params: { isDelayed: false } },
      invoke: {
        src: 'findImage',
        input: ({ context: { pod, image, policy } }) => ({ pod, image, policy }),
        onDone: [
          {
            guard: { type: 'isImageUsable', params: ({ event }) => event.output },
            target: 'found',
            actions: [
              { type: 'recordPodWarnings', params: ({ event }) => event.output },
              { type: 'recordPresentImage', params: ({ event }) => event.output },
            ],
          },
          {
            guard: 'isPullForbidden',
            target: 'missing',
            actions: { type: 'recordPodWarnings', params: ({ event }) => event.output },
          },
          {
            target: 'queued',
            actions: [
              { type: 'recordPodWarnings', params: ({ event }) => event.output },
              assign(({ event }) => ({ foundAbsentAt: event.output.at })),
            ],
          },
        ],
        onError: { target: 'awaitingRetry', actions: ['recordCheckFailure', 'recordCheckFailureEvents'] },
      },
    },
    queued: {
      description: 'All pull slots of the node are taken. The pull waits for one of them.',
      tags: 'waiting',
      meta: { waitsFor: 'a pull slot', layout: { column: 2 } },
      entry: [
        {
          type: 'recordEvent',
          params: ({ context }) => (context.sharesEarlierImage ? [] : pullingEvent(context.image)),
        },
        'requestSlot',
      ],
      on: {
        'slot.granted': [
          { guard: 'mayBePresentNow', target: 'checkingAgain', actions: 'recordPullTimeout' },
          { target: 'pulling', actions: 'recordPullTimeout' },
        ],
      },
    },
    checkingAgain: {
      description: 'The slot was granted after a wait, during which another container may have pulled the same image.',
      tags: 'working',
      meta: { waitsFor: 'the runtime to look for its image again', layout: { column: 2 } },
      invoke: {
        src: 'findImage',
        input: ({ context: { pod, image, policy } }) => ({ pod, image, policy }),
        onDone: [
          {
            guard: { type: 'isImageUsable', params: ({ event }) => event.output },
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
      description: 'The runtime pulls the image.',
      tags: 'working',
      meta: { waitsFor: 'the pull of its image', until: 'pullBy', layout: { column: 3 } },
      entry: {
        type: 'recordEvent',
        params: ({ context }) => (context.sharesEarlierImage ? pullingEvent(context.image) : []),
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
              params: ({ context, event }) => pulledEvent(context.image, context.foundAbsentAt, event.output),
            },
          ],
        },
        onError: [
          { guard: 'wasPullInterrupted', target: 'awaitingRetry', actions: 'recordPullFailure' },
          {
            target: 'failed',
            actions: [
              'recordPullFailure',
              {
                type: 'recordEvent',
                params: ({ context, event }) => pullFailedEvents(context.image, failureOf(event)),
              },
              { type: 'recordEventForBlocked', params: ({ event }) => imageErrorEvent(failureOf(event).reason) },
            ],
          },
        ],
      },
    },
    failed: {
      description:
        'ErrImagePull: the pull has failed. Its error is reported for some seconds before ImagePullBackOff is.',
      tags: 'retrying',
      meta: { waitsFor: 'another attempt to pull its image', until: 'retryAt', rules: ['C16'], layout: { column: 3 } },
      entry: { type: 'reportProgress', params: { isDelayed: true } },
      invoke: after(({ waitMs }: ImageContext) => Math.min(FAILURE_DISPLAY_MS, waitMs)),
      on: { 'timer.elapsed': { target: 'backingOff', actions: 'deductDisplayTime' } },
    },
    backingOff: {
      description:
        'ImagePullBackOff: the next attempt follows after a delay that doubles each time, up to five minutes.',
      tags: 'retrying',
      meta: { waitsFor: 'another attempt to pull its image', until: 'retryAt', rules: ['C16'], layout: { column: 3 } },
      entry: [
        'recordBackOffReason',
        { type: 'recordEvent', params: ({ context }) => pullBackOffEvent(context.image) },
        { type: 'recordEventForBlocked', params: imageErrorEvent('ImagePullBackOff') },
        { type: 'reportProgress', params: { isDelayed: true } },
      ],
      invoke: after(({ waitMs }: ImageContext) => waitMs),
      on: { 'timer.elapsed': 'checking' },
    },
    missing: {
      description:
        'The image is absent, and the pull policy Never forbids pulling it. It is checked again, because it may be loaded by hand.',
      tags: 'waiting',
      meta: {
        waitsFor: 'its image to be loaded by hand (pull policy Never)',
        afterMs: RECHECK_MS,
        rules: ['C17'],
        layout: { column: 1 },
      },
      entry: [
        'recordNeverPullReason',
        { type: 'recordEvent', params: ({ context }) => imageMissingEvent(context.image) },
        { type: 'recordEventForBlocked', params: imageErrorEvent('ErrImageNeverPull') },
        { type: 'reportProgress', params: { isDelayed: true } },
      ],
      invoke: after(RECHECK_MS),
      on: { 'timer.elapsed': 'checking' },
    },
    awaitingRetry: {
      description:
        'The check failed, or the runtime became unavailable during the pull. Another attempt follows after a delay.',
      tags: 'retrying',
      meta: { waitsFor: 'another attempt to pull its image', until: 'retryAt', layout: { column: 1 } },
      entry: { type: 'reportProgress', params: { isDelayed: true } },
      invoke: after(({ waitMs }: ImageContext) => waitMs),
      on: {
        'timer.elapsed': 'checking',
        'runtime.returned': { guard: 'wasRuntimeUnavailable', target: 'checking' },
      },
    },
    found: { description: 'The runtime has the image.', meta: { layout: { column: 2 } }, type: 'final', tags: 'done' },
  },
});
