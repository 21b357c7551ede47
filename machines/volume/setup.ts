/** Defines the context, ports, guards and actions of a volume's chart. The chart is in chart.ts. */

import { assertEvent, assign, enqueueActions, or, sendTo, setup, stateIn } from 'xstate';
import type { Failure } from '../../base/failure.ts';
import { containersMounting, findVolumeByName } from '../../kubernetes/api/pods/containers.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import type { Volume } from '../../kubernetes/api/schema/volume.ts';
import { rfc3339 } from '../../kubernetes/api/values/rfc3339.ts';
import { dependsOnObjects, dependsOnPod } from '../../kubernetes/environment/projection.ts';
import {
  type EventMessage,
  type EventMessages,
  involvedPod,
  type RecordedEvent,
  recordedEvents,
} from '../../kubernetes/events/recordedEvent.ts';
import { nextBackOff, volumeBackOff } from '../../kubernetes/lifecycle/backoff.ts';
import type { MountedVolume } from '../../kubernetes/mountedVolume.ts';
import type { ReportedDetails } from '../../show/actors/actorNode.ts';
import { imageMachine } from '../image/chart.ts';
import { type ImageProgress, imageProgress } from '../image/imageProgress.ts';
import type { ImageInput } from '../image/setup.ts';
import type { PodEvent, VolumeEvent, VolumeLifecycle } from '../shared/events/events.ts';
import { failureEvents } from '../shared/events/failureEvents.ts';
import { port, timerPort } from '../shared/ports.ts';
import type { ActorInfo, StateMeta, StateTag } from '../shared/stateMeta.ts';
import { parent, sharedActor } from '../shared/views/actorRefs.ts';
import { failureOf, isRuntimeUnavailable, retryAtAfterChange } from '../shared/waiting/failure.ts';

/**
 * Time limit of a mount in milliseconds, a little shorter than the time for which the kubelet lets a pod wait for its
 * volumes. The mount fails when the limit is exceeded.
 */
export const MOUNT_TIMEOUT_MS = 2 * 60_000;
/**
 * Time limit of an unmount in milliseconds. The limit is generous because deleting a large emptyDir can take a long
 * time. The unmount fails when the limit is exceeded.
 */
export const UNMOUNT_TIMEOUT_MS = 20 * 60_000;

export interface VolumeInput {
  readonly pod: Pod;
  readonly name: string;
  /** Whether the pod terminated before this agent started, in which case the volume is only unmounted. */
  readonly isLeftover?: boolean;
  /** Whether containers that were running before this agent started already use the volume. */
  readonly isInUse?: boolean;
  /** Position of the pod in the order of arrival. Earlier pods pull first. */
  readonly arrivalOrder: number;
}

export interface VolumeContext extends VolumeInput, ImageProgress {
  /** The mounted volume. Undefined until it has been mounted. */
  readonly mountedVolume?: MountedVolume;
  /** Back-off delay before the next attempt to mount the volume, in milliseconds. */
  readonly delayMs: number;
  /** Due time of the next attempt, in milliseconds since the epoch. */
  readonly retryAt: number;
}

const volumeOf = ({ pod, name }: VolumeContext): Volume | undefined => findVolumeByName(pod.spec, name);

const exposesClusterObjects = (context: VolumeContext): boolean => {
  const volume = volumeOf(context);
  return volume !== undefined && dependsOnObjects(volume);
};

/** Returns the image of an image volume, or undefined for any other kind of volume. */
const imageSource = (context: VolumeContext): Volume['image'] => volumeOf(context)?.image;

const imageReference = (context: VolumeContext): string => imageSource(context)?.reference ?? '';

const pullKey = ({ pod, name }: VolumeContext): string => `${pod.metadata.uid}/volume:${name}/pull`;

function backOffFields(context: VolumeContext, failure: Failure) {
  const delayMs = nextBackOff(context.delayMs, volumeBackOff);
  return { failure, delayMs, retryAt: failure.at + delayMs };
}

/**
 * Returns the time at which the volume's token has to be renewed, in milliseconds since the epoch, or undefined without
 * a token.
 */
export const tokenRenewalTime = ({ mountedVolume }: VolumeContext): number | undefined =>
  mountedVolume?.kind === 'path' ? mountedVolume.renewAt : undefined;

/** Returns the expiry of the volume's tokens, for the actor tree. */
export function facts({ snapshot: { context } }: ActorInfo<VolumeContext>): ReportedDetails {
  const tokensExpireAt = context.mountedVolume?.kind === 'path' ? context.mountedVolume.goodUntil : undefined;
  return { facts: tokensExpireAt === undefined ? [] : [`token good until ${rfc3339(tokensExpireAt)}`] };
}

export const deadlines = ({ snapshot: { context } }: ActorInfo<VolumeContext>) => ({
  dueAt: tokenRenewalTime(context),
});

function mountFailedEvents({ name }: VolumeContext, event: { type: string }): EventMessage[] {
  const failure = failureOf(event);
  return failureEvents(failure, 'FailedMount', `MountVolume.SetUp failed for volume "${name}" : ${failure.message}`);
}

/**
 * Returns the input of the timer for the next attempt. The timer runs for at most the back-off delay of the last
 * failure.
 */
export const retryTimerInput = ({ retryAt, failure }: VolumeContext) => ({
  until: retryAt,
  within: Math.max(0, retryAt - (failure?.at ?? 0)),
});

/**
 * Returns the input of the image machine. Errors are recorded as events about each container that the volume blocks.
 */
export function imageInput(context: VolumeContext): ImageInput {
  const { pod, name, arrivalOrder, imageDelayMs: delayMs, waitingReason } = context;
  const blockedContainers = containersMounting(pod.spec, [name]);
  return {
    pod,
    arrivalOrder,
    delayMs,
    waitingReason,
    image: imageReference(context),
    policy: imageSource(context)?.pullPolicy,
    involvedObject: involvedPod(pod),
    blockedObjects: blockedContainers.map(({ container, role }) => involvedPod(pod, { name: container.name, role })),
    key: pullKey(context),
    // No earlier container can need the same image, because volumes are processed before all containers.
    sharesEarlierImage: false,
  };
}

export const volumeSetup = setup({
  types: {
    input: {} as VolumeInput,
    context: {} as VolumeContext,
    events: {} as VolumeEvent,
    emitted: {} as RecordedEvent,
    meta: {} as StateMeta,
    tags: {} as StateTag | 'mounted' | 'gettingImage' | 'leaving',
    children: {} as { image: 'image' },
  },
  actors: {
    mountVolume: port('mountVolume'),
    unmountVolume: port('unmountVolume'),
    image: imageMachine,
    timer: timerPort(),
  },
  guards: {
    isLeftover: ({ context }) => context.isLeftover === true,
    exposesPodFields: ({ context }) => {
      const volume = volumeOf(context);
      return volume !== undefined && dependsOnPod(volume);
    },
    hasToken: ({ context }) => tokenRenewalTime(context) !== undefined,
    exposesObjects: ({ context }) => exposesClusterObjects(context),
    /** Whether to retry early, because a missing ConfigMap or Secret may exist by now. */
    canRetryEarlier: ({ context }) => exposesClusterObjects(context) && retryAtAfterChange(context) < context.retryAt,
    /**
     * Whether the objects that the volume exposes have changed since they were requested, in which case the volume's
     * files may have the old content.
     */
    areObjectsOutdated: or([stateIn({ mounting: 'outdated' }), stateIn({ mounted: { refreshing: 'outdated' } })]),
    isImageVolume: ({ context }) => imageSource(context) !== undefined,
  },
  actions: {
    recordEvent: enqueueActions(({ context, enqueue }, messages: EventMessages) => {
      for (const event of recordedEvents(involvedPod(context.pod), messages)) enqueue.emit(event);
    }),
    reportLifecycle: sendTo(parent<PodEvent>(), ({ context }, params: { lifecycle: VolumeLifecycle }) => ({
      type: 'volume.changed' as const,
      name: context.name,
      lifecycle: params.lifecycle,
      ...(context.mountedVolume === undefined ? {} : { mountedVolume: context.mountedVolume }),
    })),
    /**
     * Reports whether the volume is delayed. A missing image blocks only the containers that mount it, and a failed
     * remount after a restart of the agent blocks no running container. While the runtime is unavailable, no container
     * can start anyway.
     */
    reportDelay: enqueueActions(({ context, event, enqueue }) => {
      const blocksAllContainers = imageSource(context) === undefined && context.isInUse !== true;
      if (blocksAllContainers || isRuntimeUnavailable(context.failure)) return;
      if (event.type === 'image.changed' && !event.isDelayed) return;
      enqueue.sendTo(parent<PodEvent>(), { type: 'volume.changed', name: context.name, lifecycle: 'delayed' });
    }),
    recordUpdate: assign(({ event }) => {
      assertEvent(event, 'volume.update');
      return { pod: event.pod };
    }),
    /** Emits the events about a failed mount before the next state emits its own events. */
    recordFailureEvents: enqueueActions(({ context, event, enqueue }) => {
      for (const recordedEvent of recordedEvents(involvedPod(context.pod), mountFailedEvents(context, event)))
        enqueue.emit(recordedEvent);
    }),
    recordFailure: assign(({ context, event }) => backOffFields(context, failureOf(event))),
    shortenWait: assign(({ context }) => ({ retryAt: retryAtAfterChange(context) })),
    recordMount: assign((_, mountedVolume: MountedVolume | null) => ({
      ...(mountedVolume ? { mountedVolume } : {}),
      delayMs: 0,
      // Report a failure to renew tokens as well, although the files with the old tokens are still mounted.
      failure: mountedVolume?.kind === 'path' ? mountedVolume.failure : undefined,
    })),
    recordImageProgress: assign(({ event }) => {
      assertEvent(event, 'image.changed');
      return imageProgress(event);
    }),
    updateImage: sendTo('image', ({ context }) => ({ type: 'image.update' as const, pod: context.pod })),
    releasePullSlot: sendTo(sharedActor('pullLimiter'), ({ context }) => ({
      type: 'slot.release',
      key: pullKey(context),
    })),
  },
});
