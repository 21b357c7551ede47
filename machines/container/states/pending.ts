/** A container of which nothing runs and that has still to be made: its turn, its volumes, its image. */
import { and, assign, forwardTo, not } from 'xstate';
import { imageInput } from '../context.ts';
import { containerSetup } from '../setup.ts';

export const pending = containerSetup.createStateConfig({
  initial: 'waiting',
  on: {
    'container.stop': { target: 'stopped', actions: 'stopForGood' },
    'container.reset': '.reset',
    'container.update': [
      { guard: and(['hasTurn', 'changesIdentity']), target: '.choosing', actions: ['update', 'forgetImage'] },
      { actions: 'update' },
    ],
  },
  states: {
    waiting: {
      tags: 'waiting',
      meta: { waitsFor: 'the containers before it' },
      entry: { type: 'report', params: { lifecycle: 'pending' } },
      always: [
        { guard: 'mustStay', target: '#container.stopped' },
        { guard: 'mustReset', target: 'reset' },
        { guard: and(['hasTurn', 'hasRun']), target: '#container.ended' },
        { guard: 'hasTurn', target: 'choosing' },
      ],
    },
    /** The whole pod restarts in place (C5). */
    reset: { tags: 'working', entry: 'resetAttempt', always: 'waiting' },
    restarting: { tags: 'working', entry: 'beginAttempt', always: 'choosing' },
    choosing: {
      tags: 'working',
      always: [{ guard: 'lacksVolume', target: 'awaitingVolumes' }, { target: 'gettingImage' }],
    },
    /** The image of a volume cannot be had, which holds up nobody who does not mount it (C16). */
    awaitingVolumes: {
      tags: ['waiting', 'awaitingVolumes'],
      meta: { waitsFor: 'its volumes to be mounted' },
      entry: { type: 'report', params: { lifecycle: 'delayed' } },
      always: { guard: not('lacksVolume'), target: 'gettingImage' },
    },
    gettingImage: {
      tags: ['working', 'gettingImage'],
      meta: { waitsFor: 'its image' },
      exit: 'releasePull',
      invoke: {
        src: 'image',
        id: 'image',
        input: ({ context }) => imageInput(context),
        onDone: [
          {
            guard: 'hasNoPast',
            target: 'countingRestarts',
            actions: ['forgetImage', assign(({ event }) => ({ imageRef: event.output.imageRef }))],
          },
          {
            target: '#container.launching',
            actions: ['forgetImage', assign(({ event }) => ({ imageRef: event.output.imageRef }))],
          },
        ],
      },
      on: {
        'image.changed': {
          actions: [
            'recordImage',
            { type: 'report', params: ({ event }) => ({ lifecycle: event.isDelayed ? 'delayed' : 'coming' }) },
          ],
        },
        'runtime.returned': { actions: forwardTo('image') },
        'container.update': [
          { guard: 'changesIdentity', target: 'choosing', actions: ['update', 'forgetImage'] },
          { actions: ['update', 'updateImage'] },
        ],
      },
    },
    /** How often one that the runtime knows nothing of has run before (C23). */
    countingRestarts: {
      tags: 'working',
      meta: { waitsFor: 'its previous restarts to be counted' },
      invoke: {
        src: 'countRestarts',
        input: ({ context }) => ({ pod: context.pod, container: context.name }),
        onDone: {
          target: '#container.launching',
          // What was made and never started keeps its number.
          actions: assign(({ context, event }) => ({ attempt: Math.max(context.attempt, event.output.restarts) })),
        },
        // As on a kubelet: logs that cannot be read keep no container from running.
        onError: '#container.launching',
      },
    },
  },
});
