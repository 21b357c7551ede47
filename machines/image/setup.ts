/** What an image's actor knows, its ports, guards and actions. The chart is in chart.ts. */
import { assign, enqueueActions, sendTo, setup } from 'xstate';
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
import { parent, pathOf, served } from '../shared/actorRefs.ts';
import type { ImageEvent, ImageFact } from '../shared/events.ts';
import { failureOf, isRuntimeAway, RUNTIME_AWAY_MS } from '../shared/failure.ts';
import type { FoundImage } from '../shared/foundImage.ts';
import { port, timerPort } from '../shared/ports.ts';
import type { StateMeta, StateTag } from '../shared/stateMeta.ts';
import { SHOWN_FAILED_MS, type WaitingReason } from '../shared/waitingReason.ts';
import { imagePresent, inspectionError, inspectionFailed } from './recordedEvents.ts';
import { backOffReason, inspectReason, neverPullReason, pullReason } from './waitingReason.ts';

export interface ImageInput {
  readonly pod: Pod;
  /** As the spec names it. */
  readonly image: string;
  /** Absent: it is pulled where it is not there. */
  readonly policy: string | undefined;
  /** Whom the events of its look and its pull are about. */
  readonly involved: InvolvedObject;
  /** The containers that cannot start without it: an error is told of each. */
  readonly heldUp: readonly InvolvedObject[];
  /** What the pull limiter knows it by; whoever stops this actor releases it. */
  readonly key: string;
  /** A container of the pod that comes before wants the same image: on a kubelet this one would not begin before that has it. */
  readonly isAfterSame: boolean;
  /** The pod's number in the order of arrival: who came first pulls first. */
  readonly ticket: number;
  /** The wait after the last try that failed, in milliseconds; 0 when none did. */
  readonly delayMs: number;
  readonly waitingReason: WaitingReason | undefined;
}

export interface ImageContext extends ImageInput {
  readonly imageRef: string;
  /** When it was found to be absent: from then on it waited for its turn to be pulled. */
  readonly soughtAt: number;
  /** How long the pull may take, in milliseconds; absent: as long as it takes. */
  readonly limitMs?: number | undefined;
  readonly failure?: Failure | undefined;
  /** How long the next attempt is waited for, in milliseconds, from the beginning of the state that waits. */
  readonly waitMs: number;
}

/** Of a name that is none there is no registry: it is not pulled. */
function registryOf(image: string): string {
  const reference = parseImageReference(image);
  return 'refusal' in reference ? '' : (reference.repository.split('/')[0] ?? '');
}

/** That the runtime is away is the node's own business: it says nothing of the image, and its return ends the wait. */
function setback(context: ImageContext, failure: Failure, reason: WaitingReason): Partial<ImageContext> {
  if (isRuntimeAway(failure)) return { failure, waitMs: RUNTIME_AWAY_MS };
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
    /** It is here, and neither the policy nor what is known of its pulls asks for a look at the registry. */
    needsNoPull: ({ context }, { imageRef, isUnproven = false }: FoundImage) =>
      imageRef !== null && context.policy !== 'Always' && !isUnproven,
    mayNotPull: ({ context }) => context.policy === 'Never',
    /** While it waited for its slot another may have pulled it. */
    mayHaveCome: ({ context, event }) =>
      event.type === 'slot.granted' && event.waited === true && context.policy !== 'Always',
    /** The runtime went away in the middle of it: that says nothing about the image. */
    isCutOff: ({ event }) => isRuntimeAway(failureOf(event)),
    failedForRuntime: ({ context }) => isRuntimeAway(context.failure),
  },
  actions: {
    recordEvent: enqueueActions(({ context: { involved }, enqueue }, messages: EventMessages) => {
      for (const event of recordedEvents(involved, messages)) enqueue.emit(event);
    }),
    /** Of its secrets the whole pod is told. */
    warnPod: enqueueActions(({ context: { pod }, enqueue }, { warnings = [] }: FoundImage) => {
      for (const event of recordedEvents(involvedPod(pod), warnings)) enqueue.emit(event);
    }),
    recordEventOfHeldUp: enqueueActions(({ context: { heldUp }, enqueue }, messages: EventMessages) => {
      for (const event of heldUp.flatMap((involved) => recordedEvents(involved, messages))) enqueue.emit(event);
    }),
    report: sendTo(
      parent<ImageFact>(),
      ({ context: { delayMs, failure, waitingReason } }, params: { isDelayed: boolean }) => ({
        type: 'image.changed' as const,
        isDelayed: params.isDelayed,
        delayMs,
        failure,
        waitingReason,
      }),
    ),
    takeFound: enqueueActions(({ context: { image, involved }, enqueue }, { imageRef }: FoundImage) => {
      enqueue.assign({ imageRef: imageRef ?? '' });
      for (const told of recordedEvents(involved, imagePresent(image))) enqueue.emit(told);
    }),
    update: assign(({ event }) => (event.type === 'image.update' ? { pod: event.pod } : {})),
    recordLookFailure: assign(({ context, event }) => {
      const failure = failureOf(event);
      return setback(context, failure, inspectReason(context.image, failure));
    }),
    tellLookFailure: enqueueActions(({ context: { image, involved, heldUp }, event, enqueue }) => {
      const failure = failureOf(event);
      for (const told of recordedEvents(involved, inspectionFailed(image, failure))) enqueue.emit(told);
      for (const each of heldUp) for (const told of recordedEvents(each, inspectionError(failure))) enqueue.emit(told);
    }),
    recordPullFailure: assign(({ context, event }) => {
      const failure = failureOf(event);
      return setback(context, failure, pullReason(failure));
    }),
    showBackOff: assign(({ context }) => ({ waitingReason: backOffReason(context.image, context.waitingReason) })),
    countShown: assign(({ context: { waitMs } }) => ({ waitMs: Math.max(0, waitMs - SHOWN_FAILED_MS) })),
    showAbsence: assign(({ context }) => ({ waitingReason: neverPullReason(context.image) })),
    /** One that is tried again stands behind all others: a registry that never answers would have the slot each time. */
    requestSlot: sendTo(served('pullLimiter'), ({ context, self }) => ({
      type: 'slot.request',
      key: context.key,
      ticket: context.delayMs > 0 ? Number.MAX_SAFE_INTEGER : context.ticket,
      purpose: `the pull of ${context.image} for ${namespacedName(context.pod)}`,
      origin: registryOf(context.image),
      subject: `${context.pod.metadata.uid} ${context.image}`,
      holder: pathOf(self),
    })),
    recordLimit: assign(({ event }) => ({ limitMs: event.type === 'slot.granted' ? event.limitMs : undefined })),
    releaseSlot: sendTo(served('pullLimiter'), ({ context }) => ({ type: 'slot.release', key: context.key })),
  },
});
