/** One volume of one pod, from its request to its removal. */
import { assign, forwardTo } from 'xstate';
import { forgottenImage, gettingImage } from '../image/awaited.ts';
import { imageInput, MOUNT_LIMIT_MS, moments, mountFailed, renewAt, UNMOUNT_LIMIT_MS, volumeSetup } from './setup.ts';

export const volumeMachine = volumeSetup.createMachine({
  id: 'volume',
  description: 'One volume of one pod, from its mount to its unmount.',
  meta: { moments },
  context: ({ input }) => ({ ...input, delayMs: 0, imageDelayMs: 0, retryAt: 0 }),
  initial: 'new',
  states: {
    new: { tags: 'working', always: [{ guard: 'isLeft', target: 'unmounting' }, { target: 'mounting' }] },
    mounting: {
      tags: 'working',
      meta: { waitsFor: 'its mount to complete', afterMs: MOUNT_LIMIT_MS },
      invoke: {
        src: 'mountVolume',
        input: ({ context }) => ({ pod: context.pod, volume: context.name, limitMs: MOUNT_LIMIT_MS }),
        onDone: [
          { guard: 'isImage', target: 'gettingImage', actions: assign({ delayMs: 0 }) },
          {
            target: 'mounted',
            actions: assign(({ event: { output } }) => ({ ...(output ? { mounted: output } : {}), delayMs: 0 })),
          },
        ],
        onError: {
          target: 'awaitingRetry',
          actions: [
            'recordFailure',
            { type: 'recordEvent', params: ({ context, event }) => mountFailed(context, event) },
          ],
        },
      },
      // What an aborted mount left half-made, the unmount removes.
      on: {
        'volume.unmount': 'unmounting',
        'volume.update': { target: 'mounting', reenter: true, actions: 'update' },
      },
    },
    awaitingRetry: {
      tags: 'retrying',
      meta: { waitsFor: 'another attempt to mount it', until: 'retryAt' },
      entry: 'reportDelay',
      invoke: { src: 'timer', input: ({ context }) => ({ until: context.retryAt }) },
      on: {
        'timer.elapsed': 'mounting',
        'runtime.returned': { guard: 'failedForRuntime', target: 'mounting' },
        'volume.unmount': 'unmounting',
        // No attempt is made sooner for it (`Run` in pkg/volume/util/nestedpendingoperations).
        'volume.update': { actions: 'update' },
      },
    },
    gettingImage: {
      ...gettingImage,
      invoke: {
        src: 'image',
        id: 'image',
        input: ({ context }) => imageInput(context),
        onDone: {
          target: 'mounted',
          actions: assign(({ context, event }) => ({
            ...forgottenImage(context),
            mounted: { kind: 'image' as const, imageRef: event.output.imageRef },
          })),
        },
      },
      on: {
        'image.changed': { actions: ['recordImage', 'reportDelay'] },
        'runtime.returned': { actions: forwardTo('image') },
        'volume.unmount': 'unmounting',
        'volume.update': { actions: ['update', 'updateImage'] },
      },
    },
    mounted: {
      tags: 'mounted',
      entry: { type: 'report', params: { lifecycle: 'mounted' } },
      initial: 'steady',
      on: { 'volume.unmount': 'unmounting' },
      states: {
        steady: {
          tags: 'steady',
          always: { guard: 'hasToken', target: 'awaitingRenewal' },
          on: {
            'volume.update': [{ guard: 'followsPod', target: 'refreshing', actions: 'update' }, { actions: 'update' }],
          },
        },
        /** What it shows is good for a while only. */
        awaitingRenewal: {
          tags: 'steady',
          meta: { waitsFor: 'the next renewal of its token', until: 'dueAt' },
          invoke: { src: 'timer', input: ({ context }) => ({ due: renewAt(context) ?? 0 }) },
          on: {
            'timer.elapsed': 'refreshing',
            // Tokens are shown by volumes that show their pod.
            'volume.update': { target: 'refreshing', actions: 'update' },
          },
        },
        /** What it shows of its pod has changed: rewritten in place, while its containers go on with the old or the new. */
        refreshing: {
          tags: 'working',
          meta: { waitsFor: 'its files to be updated', afterMs: MOUNT_LIMIT_MS },
          invoke: {
            src: 'mountVolume',
            input: ({ context }) => ({ pod: context.pod, volume: context.name, limitMs: MOUNT_LIMIT_MS }),
            onDone: {
              target: 'steady',
              actions: assign(({ event: { output } }) => ({
                ...(output ? { mounted: output } : {}),
                ...{ delayMs: 0, failure: undefined },
              })),
            },
            onError: {
              target: 'awaitingRefresh',
              actions: [
                'recordFailure',
                { type: 'recordEvent', params: ({ context, event }) => mountFailed(context, event) },
              ],
            },
          },
          on: { 'volume.update': { target: 'refreshing', reenter: true, actions: 'update' } },
        },
        awaitingRefresh: {
          tags: 'retrying',
          meta: { waitsFor: 'another attempt to update its files', until: 'retryAt' },
          invoke: { src: 'timer', input: ({ context }) => ({ until: context.retryAt }) },
          on: { 'timer.elapsed': 'refreshing', 'volume.update': { actions: 'update' } },
        },
      },
    },
    unmounting: {
      tags: 'working',
      meta: { waitsFor: 'its unmount to complete', afterMs: UNMOUNT_LIMIT_MS },
      invoke: {
        src: 'unmountVolume',
        input: ({ context }) => ({ pod: context.pod, volume: context.name, limitMs: UNMOUNT_LIMIT_MS }),
        onDone: 'unmounted',
        onError: { target: 'awaitingUnmountRetry', actions: 'recordFailure' },
      },
    },
    awaitingUnmountRetry: {
      tags: 'retrying',
      meta: { waitsFor: 'another attempt to unmount it', until: 'retryAt' },
      invoke: { src: 'timer', input: ({ context }) => ({ until: context.retryAt }) },
      on: { 'timer.elapsed': 'unmounting' },
    },
    unmounted: { tags: 'done', entry: { type: 'report', params: { lifecycle: 'unmounted' } } },
  },
});
