/** Prepares a container for its creation. The container waits for its turn, its volumes and its image. */
import { and, assertEvent, assign, type DoneActorEvent, forwardTo, not } from 'xstate';
import { lookUp } from '../../../base/values/lookUp.ts';
import { hasUnmountedVolume, isImageUsedEarlier } from '../../../kubernetes/api/pods/containers.ts';
import { involvedPod } from '../../../kubernetes/events/recordedEvent.ts';
import { clearedImageProgress, gettingImageState, imageProgress } from '../../image/imageProgress.ts';
import type { ImageInput } from '../../image/setup.ts';
import { RARELY_TAKEN, SERVICE_NEVER_FAILS } from '../../shared/coverageGaps.ts';
import type { ContainerEvent } from '../../shared/events/events.ts';
import { sharedActor } from '../../shared/views/actorRefs.ts';
import { type ContainerContext, nextAttempt, slotKey, specOf } from '../context.ts';
import { isWholePodRestart, resetAttemptContext } from '../restartAll.ts';
import { type ContainerArgs, containerSetup } from '../setup.ts';

function imageInput(context: ContainerContext): ImageInput {
  const { image = '', imagePullPolicy: policy } = specOf(context);
  const involvedObject = involvedPod(context.pod, context);
  return {
    pod: context.pod,
    image,
    policy,
    involvedObject,
    blockedObjects: [involvedObject],
    key: slotKey(context, 'pull'),
    arrivalOrder: context.arrivalOrder,
    delayMs: context.imageDelayMs,
    waitingReason: context.waitingReason,
    sharesEarlierImage: isImageUsedEarlier(context.pod.spec, context.name),
  };
}

const recordImageRef = assign<ContainerContext, DoneActorEvent<{ imageRef: string }>, undefined, ContainerEvent, never>(
  ({ context, event }) => ({ ...clearedImageProgress(context), imageRef: event.output.imageRef }),
);

const guards = {
  /**
   * Whether the runtime has no instance of the container, in which case only log files can prove earlier runs. A
   * container that was created and not started is excluded, because a late start by an earlier agent would be counted
   * as a terminated run.
   */
  hasNoKnownRuns: ({ context: { id, run, earlierRun, restarts, isAttemptReported } }: ContainerArgs) =>
    (id ?? run ?? earlierRun ?? restarts) === undefined && isAttemptReported !== true,
  hasTurn: ({ context }: ContainerArgs) => context.hasTurn,
  isVolumeMissing: ({ context }: ContainerArgs) =>
    hasUnmountedVolume(context.pod.spec, specOf(context), context.volumes),
  hasTerminatedRun: ({ context }: ContainerArgs) => context.run !== undefined,
  /**
   * Whether the exit that restarts the whole pod occurred before the current sandbox was created. In that case, the new
   * sandbox already constitutes the restart.
   */
  isRestartedByNewSandbox: ({ context }: ContainerArgs) =>
    context.isFromEarlierSandbox === true && isWholePodRestart(context),
  /**
   * Whether an init container ran in an earlier sandbox. It runs again in each sandbox (C3), so its pod ignores the
   * earlier run.
   */
  isInitOfEarlierSandbox: ({ context }: ContainerArgs) =>
    context.role === 'init' && context.isFromEarlierSandbox === true,
};

const actions = {
  /** Sends the pod's new version to the image's actor. An update in place does not change the image. */
  updateImage: containerSetup.sendTo('image', ({ context }) => ({ type: 'image.update' as const, pod: context.pod })),
  recordImageProgress: containerSetup.assign(({ event }) => {
    assertEvent(event, 'image.changed');
    return imageProgress(event);
  }),
  clearImageProgress: containerSetup.assign(({ context }) => clearedImageProgress(context)),
  releasePullSlot: containerSetup.sendTo(sharedActor('pullLimiter'), ({ context }) => ({
    type: 'slot.release',
    key: slotKey(context, 'pull'),
  })),
  resetAttempt: containerSetup.assign(({ context }) => resetAttemptContext(context)),
  startAttempt: containerSetup.assign(({ context }) => nextAttempt(context)),
};

export const pendingImplementations = { guards, actions };

export const pending = containerSetup.extend(pendingImplementations).createStateConfig({
  description: 'The container has to run and has not been created yet.',
  meta: { region: 'run', layout: { column: 1 } },
  initial: 'waiting',
  on: {
    'container.stop': { target: 'stopped', actions: 'stopForGood' },
    'container.reset': { target: '.resetting', actions: 'requireReset' },
    'container.update': [
      {
        guard: and(['hasTurn', 'changesIdentity']),
        target: '.choosing',
        actions: ['recordUpdate', 'clearImageProgress'],
      },
      { actions: 'recordUpdate' },
    ],
  },
  states: {
    waiting: {
      description: 'Init containers and sidecars before it have to start or complete first.',
      tags: 'waiting',
      meta: { waitsFor: 'the containers before it', rules: ['C3', 'C4'] },
      // A container whose turn has come reports `coming`, because its pod must not launch a later container in the
      // meantime (C9).
      entry: {
        type: 'reportLifecycle',
        params: ({ context }) => ({ lifecycle: context.hasTurn ? 'coming' : 'pending' }),
      },
      always: [
        { guard: 'isStoppedForGood', target: '#container.stopped' },
        { guard: 'mustRestartWithPod', target: 'resetting' },
        {
          guard: and(['hasTerminatedRun', 'isRestartedByNewSandbox']),
          target: 'resetting',
          meta: { coverageGap: RARELY_TAKEN },
        },
        { guard: and(['hasTurn', 'hasTerminatedRun', 'isInitOfEarlierSandbox']), target: 'restarting' },
        { guard: and(['hasTurn', 'hasTerminatedRun']), target: '#container.ended' },
        { guard: 'hasTurn', target: 'choosing' },
      ],
    },
    resetting: {
      description: 'The whole pod restarts in place. The container starts again when its turn comes.',
      tags: 'working',
      meta: { rules: ['C5'], region: 'reset' },
      entry: 'resetAttempt',
      always: 'waiting',
    },
    restarting: {
      description: 'The next run is prepared, because the back-off is over or there is none.',
      tags: 'working',
      meta: { layout: { isOnMainPath: true } },
      entry: 'startAttempt',
      always: 'choosing',
    },
    choosing: {
      description: 'It is decided whether the container has to wait for a volume.',
      tags: 'working',
      meta: { layout: { isOnMainPath: true } },
      always: [{ guard: 'isVolumeMissing', target: 'awaitingVolumes' }, { target: 'gettingImage' }],
    },
    awaitingVolumes: {
      description: 'An image volume is not available, which blocks only the containers that mount it.',
      tags: ['waiting', 'awaitingVolumes'],
      meta: { waitsFor: 'its volumes to be mounted' },
      entry: { type: 'reportLifecycle', params: { lifecycle: 'delayed' } },
      always: { guard: not('isVolumeMissing'), target: 'gettingImage' },
    },
    gettingImage: {
      description: 'Its image is looked up, and pulled if its pull policy requires it.',
      ...gettingImageState,
      meta: { ...gettingImageState.meta, rules: ['C17'], layout: { isOnMainPath: true } },
      invoke: {
        src: 'image',
        id: 'image',
        input: ({ context }) => imageInput(context),
        onDone: [
          { guard: 'hasNoKnownRuns', target: 'countingRestarts', actions: recordImageRef },
          { target: '#container.launching', actions: recordImageRef },
        ],
      },
      on: {
        'image.changed': {
          actions: [
            'recordImageProgress',
            { type: 'reportLifecycle', params: ({ event }) => ({ lifecycle: event.isDelayed ? 'delayed' : 'coming' }) },
          ],
        },
        'runtime.returned': { actions: forwardTo('image') },
        'container.update': [
          { guard: 'changesIdentity', target: 'choosing', actions: ['recordUpdate', 'clearImageProgress'] },
          { actions: ['recordUpdate', 'updateImage'] },
        ],
      },
    },
    countingRestarts: {
      description: 'The runtime has nothing of the container. Its earlier runs are counted by its log files.',
      tags: 'working',
      meta: { waitsFor: 'its previous restarts to be counted', rules: ['C23'] },
      invoke: {
        src: 'countRestarts',
        input: ({ context }) => ({ pod: context.pod, containers: [context.name] }),
        onDone: {
          target: '#container.launching',
          // The log files can only raise the attempt number.
          actions: assign(({ context: { attempt, name }, event: { output } }) => ({
            attempt: Math.max(attempt, lookUp(output.restarts, name) ?? 0),
          })),
        },
        // Unreadable logs do not prevent the container from running, as in the kubelet.
        onError: { target: '#container.launching', meta: { coverageGap: SERVICE_NEVER_FAILS } },
      },
    },
  },
});
