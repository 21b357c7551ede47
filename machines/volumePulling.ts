/** The image that a volume shows: looked for, and pulled by its policy (C17). A part of the chart in volume.ts. */
import { assign } from 'xstate';
import type { Note } from '../pod/occurrence.ts';
import { failureOf } from './failure.ts';
import {
  imageMissing,
  imagePresent,
  inspectionFailed,
  pullBacksOff,
  pullBegins,
  pullDone,
  pullFailed,
} from './imageNotes.ts';
import { imageOf, type VolumeContext, volumeSetup } from './volumeSetup.ts';

const referenceOf = (context: VolumeContext): string => imageOf(context)?.reference ?? '';

/** Between two tries: what failed before it was pulled is no back-off of a pull. */
const pullBackOff = (context: VolumeContext): Note[] =>
  context.failure?.reason === 'ErrImagePull' ? [pullBacksOff(referenceOf(context))] : [];

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
        input: ({ context }) => ({ image: referenceOf(context) }),
        onDone: [
          {
            guard: { type: 'needsNoPull', params: ({ event }) => event.output },
            target: 'found',
            actions: [
              assign(({ event }) => ({ hostPath: event.output.imageRef ?? '' })),
              { type: 'note', params: ({ context }) => imagePresent(referenceOf(context)) },
            ],
          },
          { guard: 'mayNotPull', target: 'missing' },
          { target: 'queued', actions: assign(({ event }) => ({ soughtAt: event.output.at })) },
        ],
        onError: {
          target: 'awaitingRetry',
          actions: [
            'recordPullFailure',
            {
              type: 'note',
              params: ({ context, event }) => inspectionFailed(referenceOf(context), failureOf(event)),
            },
          ],
        },
      },
    },
    queued: {
      meta: { waitsFor: 'a slot' },
      entry: [{ type: 'note', params: ({ context }) => pullBegins(referenceOf(context)) }, 'requestPull'],
      on: { 'gate.granted': 'fetching' },
    },
    fetching: {
      meta: { waitsFor: 'the pull of the image' },
      exit: 'releasePull',
      invoke: {
        src: 'pullImage',
        input: ({ context }) => ({ pod: context.pod, image: referenceOf(context) }),
        onDone: {
          target: 'found',
          actions: [
            assign(({ event }) => ({ hostPath: event.output.imageRef })),
            {
              type: 'note',
              params: ({ context, event }) => pullDone(referenceOf(context), context.soughtAt, event.output),
            },
          ],
        },
        onError: {
          target: 'awaitingRetry',
          actions: [
            'recordPullFailure',
            {
              type: 'note',
              params: ({ context, event }) => pullFailed(referenceOf(context), failureOf(event)),
            },
          ],
        },
      },
    },
    /** Absent, and the policy forbids to pull: somebody may load it by hand, so it is looked for again. */
    missing: {
      meta: { waitsFor: 'the image to be loaded by hand (pullPolicy Never)', afterMs: 10_000 },
      entry: { type: 'note', params: ({ context }) => imageMissing(referenceOf(context)) },
      invoke: { src: 'timer', input: { after: 10_000 } },
      on: { 'timer.elapsed': 'finding' },
    },
    awaitingRetry: {
      meta: { waitsFor: 'another try to pull', until: 'retryAt' },
      entry: { type: 'note', params: ({ context }) => pullBackOff(context) },
      invoke: { src: 'timer', input: ({ context }) => ({ until: context.retryAt }) },
      on: { 'timer.elapsed': 'finding' },
    },
    found: { type: 'final', entry: assign({ delayMs: 0, failure: undefined }) },
  },
});
