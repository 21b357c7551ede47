/** One volume of one pod, from its request to its removal. */
import { assign, enqueueActions, sendTo, setup } from 'xstate';
import { nextBackOff, volumeBackOff } from '../pod/backoff.ts';
import type { Failure } from '../pod/failure.ts';
import { involvedPod, type Note, type Notes, notesOf, type Occurrence, occurrence } from '../pod/occurrence.ts';
import { followsPod } from '../pod/projection.ts';
import type { Pod } from '../pod/schema/pod.ts';
import type { PodEvent, Ref, VolumeEvent, VolumeStanding } from './events.ts';
import { failureOf } from './failure.ts';
import { port, timerPort } from './ports.ts';
import type { StateMeta } from './stateMeta.ts';

export interface VolumeContext {
  readonly pod: Pod;
  readonly name: string;
  readonly parent: Ref<PodEvent>;
  readonly hostPath?: string;
  readonly failure?: Failure | undefined;
  /** The wait before the next try, in milliseconds. */
  readonly delayMs: number;
  /** When that try is due. */
  readonly retryAt: number;
}

const mountFailed = ({ name }: VolumeContext, event: { type: string }): Note => ({
  eventType: 'Warning',
  reason: 'FailedMount',
  message: `MountVolume.SetUp failed for volume "${name}" : ${failureOf(event).message}`,
});

export const volumeMachine = setup({
  types: {
    input: {} as { pod: Pod; name: string; parent: Ref<PodEvent> },
    context: {} as VolumeContext,
    events: {} as VolumeEvent,
    emitted: {} as Occurrence,
    meta: {} as StateMeta,
  },
  actors: { mountVolume: port('mountVolume'), unmountVolume: port('unmountVolume'), timer: timerPort() },
  guards: {
    followsPod: ({ context }) =>
      (context.pod.spec.volumes ?? []).some((volume) => volume.name === context.name && followsPod(volume)),
  },
  actions: {
    note: enqueueActions(({ context, enqueue }, notes: Notes) => {
      for (const note of notesOf(notes)) enqueue.emit(occurrence(involvedPod(context.pod), note));
    }),
    report: sendTo(
      ({ context }) => context.parent,
      ({ context }, params: { standing: VolumeStanding }) => ({
        type: 'volume.changed' as const,
        name: context.name,
        standing: params.standing,
        ...(context.hostPath === undefined ? {} : { hostPath: context.hostPath }),
      }),
    ),
    update: assign(({ event }) => (event.type === 'volume.update' ? { pod: event.pod } : {})),
    recordFailure: assign(({ context, event }) => {
      const failure = failureOf(event);
      const delayMs = nextBackOff(context.delayMs, volumeBackOff);
      return { failure, delayMs, retryAt: failure.at + delayMs };
    }),
  },
}).createMachine({
  id: 'volume',
  context: ({ input }) => ({ ...input, delayMs: 0, retryAt: 0 }),
  initial: 'mounting',
  states: {
    mounting: {
      meta: { waitsFor: 'the mount' },
      invoke: {
        src: 'mountVolume',
        input: ({ context }) => ({ pod: context.pod, volume: context.name }),
        onDone: {
          target: 'mounted',
          actions: assign(({ event }) => ({ hostPath: event.output.hostPath, delayMs: 0 })),
        },
        onError: {
          target: 'awaitingRetry',
          actions: ['recordFailure', { type: 'note', params: ({ context, event }) => mountFailed(context, event) }],
        },
      },
      // What an aborted mount left half-made, the unmount removes.
      on: {
        'volume.unmount': 'unmounting',
        'volume.update': { target: 'mounting', reenter: true, actions: 'update' },
      },
    },
    awaitingRetry: {
      meta: { waitsFor: 'another try to mount', until: 'retryAt' },
      invoke: { src: 'timer', input: ({ context }) => ({ until: context.retryAt }) },
      on: {
        'timer.elapsed': 'mounting',
        'volume.unmount': 'unmounting',
        'volume.update': { target: 'mounting', actions: 'update' },
      },
    },
    mounted: {
      entry: { type: 'report', params: { standing: 'mounted' } },
      initial: 'steady',
      on: { 'volume.unmount': 'unmounting' },
      states: {
        steady: {
          on: {
            'volume.update': [{ guard: 'followsPod', target: 'refreshing', actions: 'update' }, { actions: 'update' }],
          },
        },
        /** What it shows of its pod has changed: written anew in place, while its containers go on with the old or the new. */
        refreshing: {
          meta: { waitsFor: 'its files to be brought up to date' },
          invoke: {
            src: 'mountVolume',
            input: ({ context }) => ({ pod: context.pod, volume: context.name }),
            onDone: { target: 'steady', actions: assign({ delayMs: 0, failure: undefined }) },
            onError: {
              target: 'awaitingRefresh',
              actions: ['recordFailure', { type: 'note', params: ({ context, event }) => mountFailed(context, event) }],
            },
          },
          on: { 'volume.update': { target: 'refreshing', reenter: true, actions: 'update' } },
        },
        awaitingRefresh: {
          meta: { waitsFor: 'another try to bring its files up to date', until: 'retryAt' },
          invoke: { src: 'timer', input: ({ context }) => ({ until: context.retryAt }) },
          on: { 'timer.elapsed': 'refreshing', 'volume.update': { target: 'refreshing', actions: 'update' } },
        },
      },
    },
    unmounting: {
      meta: { waitsFor: 'the unmount' },
      invoke: {
        src: 'unmountVolume',
        input: ({ context }) => ({ pod: context.pod, volume: context.name }),
        onDone: 'unmounted',
        onError: { target: 'awaitingUnmountRetry', actions: 'recordFailure' },
      },
    },
    awaitingUnmountRetry: {
      meta: { waitsFor: 'another try to unmount', until: 'retryAt' },
      invoke: { src: 'timer', input: ({ context }) => ({ until: context.retryAt }) },
      on: { 'timer.elapsed': 'unmounting' },
    },
    unmounted: { entry: { type: 'report', params: { standing: 'unmounted' } } },
  },
});
