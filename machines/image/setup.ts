/** Defines the image machine's context, ports, guards and actions. The chart is in chart.ts. */
import { assertEvent, assign, enqueueActions, sendTo, setup } from 'xstate';
import type { Failure } from '../../base/failure.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import {
  type EventMessages,
  type InvolvedObject,
  involvedPod,
  type RecordedEvent,
  recordedEvents,
} from '../../kubernetes/events/recordedEvent.ts';
import { parseImageReference } from '../../kubernetes/images/imageReference.ts';
import { nextBackOff, pullBackOff } from '../../kubernetes/lifecycle/backoff.ts';
import { namespacedName } from '../../kubernetes/shownName.ts';
import type { ImageEvent, ImageFact } from '../shared/events/events.ts';
import type { ImageCheck } from '../shared/events/imageCheck.ts';
import { port, timerPort } from '../shared/ports.ts';
import type { StateMeta, StateTag } from '../shared/stateMeta.ts';
import { actorPath, parent, sharedActor } from '../shared/views/actorRefs.ts';
import { FAILURE_DISPLAY_MS, type WaitingReason } from '../shared/views/waitingReason.ts';
import { failureOf, isRuntimeUnavailable, RUNTIME_RETRY_MS } from '../shared/waiting/failure.ts';
import { imagePresentEvent, inspectionErrorEvents, inspectionFailedEvents } from './recordedEvents.ts';
import { backOffReason, inspectionFailedReason, neverPullReason, pullFailedReason } from './waitingReason.ts';

export interface ImageInput {
  readonly pod: Pod;
  /** The image as named in the spec. */
  readonly image: string;
  /** The pull policy. Undefined is treated as IfNotPresent. */
  readonly policy: string | undefined;
  /** The object to which events about the check and the pull of the image refer. */
  readonly involvedObject: InvolvedObject;
  /** The containers that cannot start without the image. Errors are recorded as events about each of them. */
  readonly blockedObjects: readonly InvolvedObject[];
  /**
   * Key of the request for a slot of the pull limiter. A parent that stops this actor releases the slot with this key.
   */
  readonly key: string;
  /**
   * Whether an earlier container of the pod needs the same image. The kubelet processes the later container only after
   * the image is present, so the later container records the event `Pulling` only if it pulls the image itself.
   */
  readonly sharesEarlierImage: boolean;
  /** Position of the pod in the order of arrival. Earlier pods pull first. */
  readonly arrivalOrder: number;
  /** Back-off delay after the last failed attempt, in milliseconds. 0 if no attempt has failed. */
  readonly delayMs: number;
  readonly waitingReason: WaitingReason | undefined;
}

export interface ImageContext extends ImageInput {
  readonly imageRef: string;
  /**
   * Time at which the image was found to be absent and the wait for a pull slot started, in milliseconds since the
   * epoch.
   */
  readonly foundAbsentAt: number;
  /** Time limit of the pull, in milliseconds. Undefined if there is none. */
  readonly limitMs?: number | undefined;
  readonly failure?: Failure | undefined;
  /** Delay until the next attempt, in milliseconds from the start of the waiting state. */
  readonly waitMs: number;
}

/** Returns the registry of an image. Empty for an invalid name, which is never pulled. */
function registryOf(image: string): string {
  const reference = parseImageReference(image);
  return 'refusal' in reference ? '' : (reference.repository.split('/')[0] ?? '');
}

/**
 * Returns the context after a failure. An unavailable runtime says nothing about the image, so the waiting reason and
 * the back-off remain unchanged. The wait ends when the runtime is available again.
 */
function failureFields(context: ImageContext, failure: Failure, reason: WaitingReason): Partial<ImageContext> {
  if (isRuntimeUnavailable(failure)) return { failure, waitMs: RUNTIME_RETRY_MS };
  const delayMs = nextBackOff(context.delayMs, pullBackOff);
  return { failure, delayMs, waitMs: delayMs, waitingReason: reason };
}

export const imageSetup = setup({
  types: {
    input: {} as ImageInput,
    context: {} as ImageContext,
    events: {} as ImageEvent,
    emitted: {} as RecordedEvent,
    output: {} as { readonly imageRef: string },
    meta: {} as StateMeta,
    tags: {} as StateTag,
  },
  actors: { findImage: port('findImage'), pullImage: port('pullImage'), timer: timerPort() },
  guards: {
    /** Whether the image is present and neither its policy nor its pull record requires a request to the registry. */
    isImageUsable: ({ context }, { imageRef, isUnproven = false }: ImageCheck) =>
      imageRef !== null && context.policy !== 'Always' && !isUnproven,
    isPullForbidden: ({ context }) => context.policy === 'Never',
    /** Whether another container may have pulled the image while this container waited for its pull slot. */
    mayBePresentNow: ({ context, event }) => {
      assertEvent(event, 'slot.granted');
      return event.hasWaited === true && context.policy !== 'Always';
    },
    /**
     * Whether the runtime became unavailable during the pull, in which case the failure says nothing about the image.
     */
    wasPullInterrupted: ({ event }) => isRuntimeUnavailable(failureOf(event)),
    wasRuntimeUnavailable: ({ context }) => isRuntimeUnavailable(context.failure),
  },
  actions: {
    recordEvent: enqueueActions(({ context: { involvedObject }, enqueue }, messages: EventMessages) => {
      for (const event of recordedEvents(involvedObject, messages)) enqueue.emit(event);
    }),
    /** Records problems with image pull secrets as events about the pod, because they concern all of its containers. */
    recordPodWarnings: enqueueActions(({ context: { pod }, enqueue }, { warnings = [] }: ImageCheck) => {
      for (const event of recordedEvents(involvedPod(pod), warnings)) enqueue.emit(event);
    }),
    recordEventForBlocked: enqueueActions(({ context: { blockedObjects }, enqueue }, messages: EventMessages) => {
      for (const event of blockedObjects.flatMap((involved) => recordedEvents(involved, messages))) enqueue.emit(event);
    }),
    reportProgress: sendTo(
      parent<ImageFact>(),
      ({ context: { delayMs, failure, waitingReason } }, params: { isDelayed: boolean }) => ({
        type: 'image.changed' as const,
        isDelayed: params.isDelayed,
        delayMs,
        failure,
        waitingReason,
      }),
    ),
    recordPresentImage: enqueueActions(({ context: { image, involvedObject }, enqueue }, { imageRef }: ImageCheck) => {
      enqueue.assign({ imageRef: imageRef ?? '' });
      for (const recordedEvent of recordedEvents(involvedObject, imagePresentEvent(image))) enqueue.emit(recordedEvent);
    }),
    recordUpdate: assign(({ event }) => {
      assertEvent(event, 'image.update');
      return { pod: event.pod };
    }),
    recordCheckFailure: assign(({ context, event }) => {
      const failure = failureOf(event);
      return failureFields(context, failure, inspectionFailedReason(context.image, failure));
    }),
    recordCheckFailureEvents: enqueueActions(
      ({ context: { image, involvedObject, blockedObjects }, event, enqueue }) => {
        const failure = failureOf(event);
        for (const recordedEvent of recordedEvents(involvedObject, inspectionFailedEvents(image, failure)))
          enqueue.emit(recordedEvent);
        for (const each of blockedObjects)
          for (const recordedEvent of recordedEvents(each, inspectionErrorEvents(failure))) enqueue.emit(recordedEvent);
      },
    ),
    recordPullFailure: assign(({ context, event }) => {
      const failure = failureOf(event);
      return failureFields(context, failure, pullFailedReason(failure));
    }),
    recordBackOffReason: assign(({ context }) => ({
      waitingReason: backOffReason(context.image, context.waitingReason),
    })),
    deductDisplayTime: assign(({ context: { waitMs } }) => ({ waitMs: Math.max(0, waitMs - FAILURE_DISPLAY_MS) })),
    recordNeverPullReason: assign(({ context }) => ({ waitingReason: neverPullReason(context.image) })),
    /**
     * Requests a pull slot. A retry is queued behind all other requests, because pulls from an unresponsive registry
     * would otherwise occupy the slot every time.
     */
    requestSlot: sendTo(sharedActor('pullLimiter'), ({ context, self }) => ({
      type: 'slot.request',
      key: context.key,
      arrivalOrder: context.delayMs > 0 ? Number.MAX_SAFE_INTEGER : context.arrivalOrder,
      purpose: `the pull of ${context.image} for ${namespacedName(context.pod)}`,
      origin: registryOf(context.image),
      subject: `${context.pod.metadata.uid} ${context.image}`,
      holder: actorPath(self),
    })),
    recordPullTimeout: assign(({ event }) => {
      assertEvent(event, 'slot.granted');
      return { limitMs: event.limitMs };
    }),
    releaseSlot: sendTo(sharedActor('pullLimiter'), ({ context }) => ({ type: 'slot.release', key: context.key })),
  },
});
