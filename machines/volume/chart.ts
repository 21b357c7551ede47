/** One volume of one pod, from its mount to its unmount. */
import { assign, forwardTo } from 'xstate';
import { clearedImageProgress, gettingImage } from '../image/imageProgress.ts';
import { CHANGED_MS } from '../shared/failure.ts';
import {
  facts,
  imageInput,
  MOUNT_LIMIT_MS,
  moments,
  renewAt,
  UNMOUNT_LIMIT_MS,
  untilRetry,
  volumeSetup,
} from './setup.ts';

/** A failed mount is retried, sooner if its objects have changed meanwhile. */
const onFailure = <To extends string>(target: To) =>
  [
    { guard: 'isOutdated', target, actions: ['recordFailure', 'hurry', 'tellFailure'] },
    { target, actions: ['recordFailure', 'tellFailure'] },
  ] as const;

/** The objects may change while they are being read. */
const whileReading = (waitsFor: string) => {
  const meta = { waitsFor, afterMs: MOUNT_LIMIT_MS };
  return {
    initial: 'current',
    states: {
      current: { meta, on: { 'volume.objectsChanged': { guard: 'showsObjects', target: 'outdated' } } },
      outdated: { meta },
    },
  } as const;
};

export const volumeMachine = volumeSetup.createMachine({
  id: 'volume',
  description: 'One volume of one pod, from its mount to its unmount.',
  meta: { moments, facts },
  context: ({ input }) => ({ ...input, delayMs: 0, imageDelayMs: 0, retryAt: 0 }),
  initial: 'new',
  states: {
    new: { tags: 'working', always: [{ guard: 'isLeft', target: 'unmounting' }, { target: 'mounting' }] },
    mounting: {
      tags: 'working',
      ...whileReading('its mount to complete'),
      invoke: {
        src: 'mountVolume',
        input: ({ context }) => ({ pod: context.pod, volume: context.name, limitMs: MOUNT_LIMIT_MS }),
        onDone: [
          { guard: 'isImage', target: 'gettingImage', actions: assign({ delayMs: 0 }) },
          {
            guard: 'isOutdated',
            target: 'mounted.settling.outdated',
            actions: { type: 'recordMount', params: ({ event }) => event.output },
          },
          { target: 'mounted', actions: { type: 'recordMount', params: ({ event }) => event.output } },
        ],
        onError: onFailure('awaitingRetry'),
      },
      // The unmount removes what an aborted mount has left.
      on: {
        'volume.unmount': 'unmounting',
        'volume.update': { target: 'mounting', reenter: true, actions: 'update' },
      },
    },
    awaitingRetry: {
      tags: 'retrying',
      meta: { waitsFor: 'another attempt to mount it', until: 'retryAt' },
      entry: 'reportDelay',
      invoke: { src: 'timer', input: ({ context }) => untilRetry(context) },
      on: {
        'timer.elapsed': 'mounting',
        'volume.unmount': 'unmounting',
        // An update does not trigger an earlier attempt (`Run` in pkg/volume/util/nestedpendingoperations).
        'volume.update': { actions: 'update' },
        'volume.objectsChanged': { guard: 'canShortenWait', target: 'awaitingRetry', reenter: true, actions: 'hurry' },
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
            ...clearedImageProgress(context),
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
            'volume.objectsChanged': { guard: 'showsObjects', target: 'refreshing' },
          },
        },
        /** The volume has a token that expires. */
        awaitingRenewal: {
          tags: 'steady',
          meta: { waitsFor: 'the next renewal of its token', until: 'dueAt' },
          invoke: { src: 'timer', input: ({ context }) => ({ due: renewAt(context) ?? 0 }) },
          on: {
            'timer.elapsed': 'refreshing',
            'volume.objectsChanged': 'refreshing',
            // Volumes with tokens also expose pod fields.
            'volume.update': { target: 'refreshing', actions: 'update' },
          },
        },
        /** Rewrites the files in place. Containers see either the old or the new content. */
        refreshing: {
          tags: 'working',
          ...whileReading('its files to be updated'),
          invoke: {
            src: 'mountVolume',
            input: ({ context }) => ({ pod: context.pod, volume: context.name, limitMs: MOUNT_LIMIT_MS }),
            onDone: [
              {
                guard: 'isOutdated',
                target: 'settling.outdated',
                actions: { type: 'recordMount', params: ({ event }) => event.output },
              },
              {
                guard: 'showsObjects',
                target: 'settling',
                actions: { type: 'recordMount', params: ({ event }) => event.output },
              },
              { target: 'steady', actions: { type: 'recordMount', params: ({ event }) => event.output } },
            ],
            onError: onFailure('awaitingRefresh'),
          },
          on: { 'volume.update': { target: 'refreshing', reenter: true, actions: 'update' } },
        },
        /** Files are rewritten at most once a second, however often objects change. */
        settling: {
          invoke: { src: 'timer', input: { after: CHANGED_MS } },
          initial: 'current',
          states: {
            current: {
              tags: 'steady',
              on: {
                'timer.elapsed': '#volume.mounted.steady',
                'volume.objectsChanged': 'outdated',
                'volume.update': [
                  { guard: 'followsPod', target: 'outdated', actions: 'update' },
                  { actions: 'update' },
                ],
              },
            },
            outdated: {
              tags: 'waiting',
              meta: { waitsFor: 'a second to pass since its files were updated', afterMs: CHANGED_MS },
              on: { 'timer.elapsed': '#volume.mounted.refreshing', 'volume.update': { actions: 'update' } },
            },
          },
        },
        awaitingRefresh: {
          tags: 'retrying',
          meta: { waitsFor: 'another attempt to update its files', until: 'retryAt' },
          invoke: { src: 'timer', input: ({ context }) => untilRetry(context) },
          on: {
            'timer.elapsed': 'refreshing',
            'volume.update': { actions: 'update' },
            'volume.objectsChanged': {
              guard: 'canShortenWait',
              target: 'awaitingRefresh',
              reenter: true,
              actions: 'hurry',
            },
          },
        },
      },
    },
    unmounting: {
      tags: ['working', 'leaving'],
      meta: { waitsFor: 'its unmount to complete', afterMs: UNMOUNT_LIMIT_MS },
      invoke: {
        src: 'unmountVolume',
        input: ({ context }) => ({ pod: context.pod, volume: context.name, limitMs: UNMOUNT_LIMIT_MS }),
        onDone: 'unmounted',
        onError: { target: 'awaitingUnmountRetry', actions: 'recordFailure' },
      },
    },
    awaitingUnmountRetry: {
      tags: ['retrying', 'leaving'],
      meta: { waitsFor: 'another attempt to unmount it', until: 'retryAt' },
      invoke: { src: 'timer', input: ({ context }) => ({ until: context.retryAt }) },
      on: { 'timer.elapsed': 'unmounting' },
    },
    unmounted: { tags: ['done', 'leaving'], entry: { type: 'report', params: { lifecycle: 'unmounted' } } },
  },
});
