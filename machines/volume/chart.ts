/** Manages one volume of one pod, from mounting to unmounting. */
import { assign, forwardTo } from 'xstate';
import { clearedImageProgress, gettingImageState } from '../image/imageProgress.ts';
import { RARELY_TAKEN } from '../shared/coverageGaps.ts';
import type { StateMeta } from '../shared/stateMeta.ts';
import { CHANGE_RETRY_MS } from '../shared/waiting/failure.ts';
import { after } from '../shared/waiting/waits.ts';
import {
  deadlines,
  facts,
  imageInput,
  MOUNT_TIMEOUT_MS,
  retryTimerInput,
  tokenRenewalTime,
  UNMOUNT_TIMEOUT_MS,
  type VolumeContext,
  volumeSetup,
} from './setup.ts';

/**
 * Returns the transitions to a state that retries a failed mount. The retry comes sooner if the volume's objects have
 * changed in the meantime.
 */
const failureTransitions = <To extends string>(target: To, metaIfOutdated: StateMeta = {}) =>
  [
    {
      guard: 'areObjectsOutdated',
      target,
      actions: ['recordFailure', 'shortenWait', 'recordFailureEvents'],
      meta: metaIfOutdated,
    },
    { target, actions: ['recordFailure', 'recordFailureEvents'] },
  ] as const;

/** Returns substates that track whether the volume's objects change while they are being read. */
const readingStates = (waitsFor: string) => {
  const meta = { waitsFor, afterMs: MOUNT_TIMEOUT_MS };
  return {
    initial: 'current',
    states: {
      current: {
        description: 'The objects that it exposes have not changed since they were requested.',
        meta,
        on: { 'volume.objectsChanged': { guard: 'exposesObjects', target: 'outdated' } },
      },
      outdated: {
        description:
          'The objects that it exposes have changed since they were requested. The files are updated once more.',
        meta,
      },
    },
  } as const;
};

export const volumeMachine = volumeSetup.createMachine({
  id: 'volume',
  description: 'One volume of one pod, from its mount to its unmount.',
  meta: { deadlines, facts },
  context: ({ input }) => ({ ...input, delayMs: 0, imageDelayMs: 0, retryAt: 0 }),
  initial: 'new',
  states: {
    new: {
      description: 'The actor has just started.',
      tags: 'working',
      meta: { layout: { column: 1 } },
      always: [{ guard: 'isLeftover', target: 'unmounting' }, { target: 'mounting' }],
    },
    mounting: {
      description: 'The volume is mounted below the directory of the pod.',
      tags: 'working',
      meta: { layout: { column: 1 } },
      ...readingStates('its mount to complete'),
      invoke: {
        src: 'mountVolume',
        input: ({ context }) => ({ pod: context.pod, volume: context.name, limitMs: MOUNT_TIMEOUT_MS }),
        onDone: [
          { guard: 'isImageVolume', target: 'gettingImage', actions: assign({ delayMs: 0 }) },
          {
            guard: 'areObjectsOutdated',
            target: 'mounted.throttled.outdated',
            actions: { type: 'recordMount', params: ({ event }) => event.output },
          },
          { target: 'mounted', actions: { type: 'recordMount', params: ({ event }) => event.output } },
        ],
        onError: failureTransitions('awaitingRetry'),
      },
      // An aborted mount needs no cleanup, because the subsequent unmount removes what the mount has left behind.
      on: {
        'volume.unmount': 'unmounting',
        'volume.update': { target: 'mounting', reenter: true, actions: 'recordUpdate' },
      },
    },
    awaitingRetry: {
      description:
        'The volume could not be mounted. Another attempt follows after a delay, and containers that mount it wait.',
      tags: 'retrying',
      meta: { waitsFor: 'another attempt to mount it', until: 'retryAt', layout: { column: 1 } },
      entry: 'reportDelay',
      invoke: after(retryTimerInput),
      on: {
        'timer.elapsed': 'mounting',
        'volume.unmount': 'unmounting',
        // An update does not bring the next attempt forward (`Run` in pkg/volume/util/nestedpendingoperations).
        'volume.update': { actions: 'recordUpdate' },
        'volume.objectsChanged': {
          guard: 'canRetryEarlier',
          target: 'awaitingRetry',
          reenter: true,
          actions: 'shortenWait',
        },
      },
    },
    gettingImage: {
      description: 'The image of the volume is looked up, and pulled if its pull policy requires it.',
      ...gettingImageState,
      meta: { ...gettingImageState.meta, layout: { column: 2 } },
      invoke: {
        src: 'image',
        id: 'image',
        input: ({ context }) => imageInput(context),
        onDone: {
          target: 'mounted',
          actions: assign(({ context, event }) => ({
            ...clearedImageProgress(context),
            mountedVolume: { kind: 'image' as const, imageRef: event.output.imageRef },
          })),
        },
      },
      on: {
        'image.changed': { actions: ['recordImageProgress', 'reportDelay'] },
        'runtime.returned': { actions: forwardTo('image') },
        'volume.unmount': 'unmounting',
        'volume.update': { actions: ['recordUpdate', 'updateImage'] },
      },
    },
    mounted: {
      description: 'The volume is available to the containers that mount it.',
      tags: 'mounted',
      meta: { layout: { column: 2 } },
      entry: { type: 'reportLifecycle', params: { lifecycle: 'mounted' } },
      initial: 'steady',
      on: { 'volume.unmount': 'unmounting' },
      states: {
        steady: {
          description: 'The volume has its content and needs no renewal.',
          tags: 'steady',
          always: { guard: 'hasToken', target: 'awaitingRenewal' },
          on: {
            'volume.update': [
              { guard: 'exposesPodFields', target: 'refreshing', actions: 'recordUpdate' },
              { actions: 'recordUpdate' },
            ],
            'volume.objectsChanged': { guard: 'exposesObjects', target: 'refreshing' },
          },
        },
        awaitingRenewal: {
          description: 'The volume has a token, which is renewed long before it expires, even if the clock is set.',
          tags: 'steady',
          meta: { waitsFor: 'the next renewal of its token', until: 'dueAt' },
          invoke: after((context: VolumeContext) => ({ due: tokenRenewalTime(context) ?? 0 })),
          on: {
            'timer.elapsed': 'refreshing',
            'volume.objectsChanged': 'refreshing',
            // Volumes with tokens also expose pod fields, which an update may change.
            'volume.update': { target: 'refreshing', actions: 'recordUpdate' },
          },
        },
        refreshing: {
          description: 'Its files are rewritten in place. Containers see either the old or the new content.',
          tags: 'working',
          ...readingStates('its files to be updated'),
          invoke: {
            src: 'mountVolume',
            input: ({ context }) => ({ pod: context.pod, volume: context.name, limitMs: MOUNT_TIMEOUT_MS }),
            onDone: [
              {
                guard: 'areObjectsOutdated',
                target: 'throttled.outdated',
                actions: { type: 'recordMount', params: ({ event }) => event.output },
              },
              {
                guard: 'exposesObjects',
                target: 'throttled',
                actions: { type: 'recordMount', params: ({ event }) => event.output },
              },
              { target: 'steady', actions: { type: 'recordMount', params: ({ event }) => event.output } },
            ],
            onError: failureTransitions('awaitingRefresh', { coverageGap: RARELY_TAKEN }),
          },
          on: { 'volume.update': { target: 'refreshing', reenter: true, actions: 'recordUpdate' } },
        },
        throttled: {
          description: 'Files are rewritten at most once a second, however often objects change.',
          invoke: after(CHANGE_RETRY_MS),
          initial: 'current',
          states: {
            current: {
              description: 'Nothing has changed since the last update.',
              tags: 'steady',
              on: {
                'timer.elapsed': '#volume.mounted.steady',
                'volume.objectsChanged': 'outdated',
                'volume.update': [
                  { guard: 'exposesPodFields', target: 'outdated', actions: 'recordUpdate' },
                  { actions: 'recordUpdate' },
                ],
              },
            },
            outdated: {
              description: 'The content has changed again. The files are updated when the second is over.',
              tags: 'waiting',
              meta: { waitsFor: 'a second to pass since its files were updated', afterMs: CHANGE_RETRY_MS },
              on: {
                'timer.elapsed': '#volume.mounted.refreshing',
                'volume.update': { actions: 'recordUpdate', meta: { coverageGap: RARELY_TAKEN } },
              },
            },
          },
        },
        awaitingRefresh: {
          description:
            'The files could not be updated. The old ones remain, and another attempt follows after a delay.',
          tags: 'retrying',
          meta: { waitsFor: 'another attempt to update its files', until: 'retryAt' },
          invoke: after(retryTimerInput),
          on: {
            'timer.elapsed': 'refreshing',
            'volume.update': { actions: 'recordUpdate' },
            'volume.objectsChanged': {
              guard: 'canRetryEarlier',
              target: 'awaitingRefresh',
              reenter: true,
              actions: 'shortenWait',
            },
          },
        },
      },
    },
    unmounting: {
      description: 'The pod terminates. The volume is unmounted, and what this agent created there is removed.',
      tags: ['working', 'leaving'],
      meta: { waitsFor: 'its unmount to complete', afterMs: UNMOUNT_TIMEOUT_MS, layout: { column: 3 } },
      invoke: {
        src: 'unmountVolume',
        input: ({ context }) => ({ pod: context.pod, volume: context.name, limitMs: UNMOUNT_TIMEOUT_MS }),
        onDone: 'unmounted',
        onError: { target: 'awaitingUnmountRetry', actions: 'recordFailure' },
      },
    },
    awaitingUnmountRetry: {
      description: 'The volume could not be unmounted. Another attempt follows after a delay.',
      tags: ['retrying', 'leaving'],
      meta: { waitsFor: 'another attempt to unmount it', until: 'retryAt', layout: { column: 3 } },
      invoke: after(({ retryAt }: VolumeContext) => ({ until: retryAt })),
      on: { 'timer.elapsed': 'unmounting' },
    },
    unmounted: {
      description: 'Nothing of the volume is left on the host.',
      tags: ['done', 'leaving'],
      meta: { layout: { column: 3 } },
      entry: { type: 'reportLifecycle', params: { lifecycle: 'unmounted' } },
    },
  },
});
