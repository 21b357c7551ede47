/** The image that a volume shows: looked for, and pulled by its policy (C17). A part of the chart in volume.ts. */
import { assign } from 'xstate';
import { imageOf, pullBegins, pullFailed, volumeSetup } from './volumeSetup.ts';

export const pulling = volumeSetup.createStateConfig({
  initial: 'finding',
  on: {
    'volume.unmount': 'unmounting',
    'volume.update': { actions: 'update' },
  },
  exit: 'releasePull',
  onDone: 'mounted',
  states: {
    finding: {
      meta: { waitsFor: 'a look for the image' },
      invoke: {
        src: 'findImage',
        input: ({ context }) => ({ image: imageOf(context)?.reference ?? '' }),
        onDone: [
          {
            guard: { type: 'needsNoPull', params: ({ event }) => event.output },
            target: 'found',
            actions: assign(({ event }) => ({ hostPath: event.output.imageRef ?? '' })),
          },
          { guard: 'mayNotPull', target: 'missing' },
          { target: 'queued' },
        ],
        onError: { target: 'awaitingRetry', actions: 'recordPullFailure' },
      },
    },
    queued: {
      meta: { waitsFor: 'a slot' },
      entry: 'requestPull',
      on: { 'gate.granted': 'fetching' },
    },
    fetching: {
      meta: { waitsFor: 'the pull of the image' },
      entry: { type: 'note', params: ({ context }) => pullBegins(context) },
      exit: 'releasePull',
      invoke: {
        src: 'pullImage',
        input: ({ context }) => ({ pod: context.pod, image: imageOf(context)?.reference ?? '' }),
        onDone: { target: 'found', actions: assign(({ event }) => ({ hostPath: event.output.imageRef })) },
        onError: {
          target: 'awaitingRetry',
          actions: ['recordPullFailure', { type: 'note', params: ({ context, event }) => pullFailed(context, event) }],
        },
      },
    },
    /** Absent, and the policy forbids to pull: somebody may load it by hand, so it is looked for again. */
    missing: {
      meta: { waitsFor: 'the image to be loaded by hand (pullPolicy Never)', afterMs: 10_000 },
      invoke: { src: 'timer', input: { after: 10_000 } },
      on: { 'timer.elapsed': 'finding' },
    },
    awaitingRetry: {
      meta: { waitsFor: 'another try to pull', until: 'retryAt' },
      invoke: { src: 'timer', input: ({ context }) => ({ until: context.retryAt }) },
      on: { 'timer.elapsed': 'finding' },
    },
    found: { type: 'final', entry: assign({ delayMs: 0, failure: undefined }) },
  },
});
