/** What a volume's chart is set up with: its context, ports, guards and actions. The chart is in chart.ts. */

import { assign, enqueueActions, or, sendTo, setup, stateIn } from 'xstate';
import type { Failure } from '../../base/failure.ts';
import { containersMounting } from '../../kubernetes/api/containers.ts';
import { rfc3339 } from '../../kubernetes/api/rfc3339.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import type { Volume } from '../../kubernetes/api/schema/volume.ts';
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
import { type AwaitedImage, awaitedImage } from '../image/awaited.ts';
import { imageMachine } from '../image/chart.ts';
import type { ImageInput } from '../image/setup.ts';
import { parent, served } from '../shared/actorRefs.ts';
import type { PodEvent, VolumeEvent, VolumeLifecycle } from '../shared/events.ts';
import { afterChange, failureOf, isRuntimeAway } from '../shared/failure.ts';
import { failureEvent } from '../shared/failureEvents.ts';
import { port, timerPort } from '../shared/ports.ts';
import type { Seen, StateMeta, StateTag } from '../shared/stateMeta.ts';

/** How long it may take to mount a volume: a little less than a kubelet lets a pod wait for its volumes. */
export const MOUNT_LIMIT_MS = 2 * 60_000;
/** A large emptyDir is deleted with it. */
export const UNMOUNT_LIMIT_MS = 20 * 60_000;

export interface VolumeInput {
  readonly pod: Pod;
  readonly name: string;
  /** Its pod has ended under an earlier agent: what that one left of it goes. */
  readonly isLeft?: boolean;
  /** Containers of its pod have run that an earlier agent has started: it was theirs already. */
  readonly isInUse?: boolean;
  /** The pod's number in the order of arrival: who came first pulls first. */
  readonly ticket: number;
}

export interface VolumeContext extends VolumeInput, AwaitedImage {
  /** What it hands to containers, once that is there. */
  readonly mounted?: MountedVolume;
  /** The wait before the next attempt to mount it, in milliseconds. */
  readonly delayMs: number;
  /** When that try is due. */
  readonly retryAt: number;
}

const volumeOf = ({ pod, name }: VolumeContext): Volume | undefined =>
  pod.spec.volumes?.find((volume) => volume.name === name);

const showsCluster = (context: VolumeContext): boolean => {
  const volume = volumeOf(context);
  return volume !== undefined && dependsOnObjects(volume);
};

/** The image that a volume shows; undefined for every other kind of volume. */
const imageOf = (context: VolumeContext): Volume['image'] => volumeOf(context)?.image;

const referenceOf = (context: VolumeContext): string => imageOf(context)?.reference ?? '';

const pullKey = ({ pod, name }: VolumeContext): string => `${pod.metadata.uid}/volume:${name}/pull`;

function withBackOff(context: VolumeContext, failure: Failure) {
  const delayMs = nextBackOff(context.delayMs, volumeBackOff);
  return { failure, delayMs, retryAt: failure.at + delayMs };
}

/** When what it shows should be had anew, in milliseconds since the epoch; undefined: not by its age. */
export const renewAt = ({ mounted }: VolumeContext): number | undefined =>
  mounted?.kind === 'path' ? mounted.renewAt : undefined;

/** How long its tokens are good, where it shows any. */
export function facts({ snapshot: { context } }: Seen<VolumeContext>): ReportedDetails {
  const goodUntil = context.mounted?.kind === 'path' ? context.mounted.goodUntil : undefined;
  return { facts: goodUntil === undefined ? [] : [`token good until ${rfc3339(goodUntil)}`] };
}

/** The moments that its states name. */
export const moments = ({ snapshot: { context } }: Seen<VolumeContext>) => ({ dueAt: renewAt(context) });

function mountFailed({ name }: VolumeContext, event: { type: string }): EventMessage[] {
  const failure = failureOf(event);
  return failureEvent(failure, 'FailedMount', `MountVolume.SetUp failed for volume "${name}" : ${failure.message}`);
}

/** Until the next attempt: no longer than was reckoned when the last one failed. */
export const untilRetry = ({ retryAt, failure }: VolumeContext) => ({
  until: retryAt,
  within: Math.max(0, retryAt - (failure?.at ?? 0)),
});

/** What its image is looked for and pulled with; its errors are told of each container that the volume holds up. */
export function imageInput(context: VolumeContext): ImageInput {
  const { pod, name, ticket, imageDelayMs: delayMs, waitingReason } = context;
  const held = containersMounting(pod.spec, [name]);
  return {
    pod,
    ticket,
    delayMs,
    waitingReason,
    image: referenceOf(context),
    policy: imageOf(context)?.pullPolicy,
    involved: involvedPod(pod),
    heldUp: held.map(({ container, role }) => involvedPod(pod, { name: container.name, role })),
    key: pullKey(context),
    // Volumes come before all containers.
    isAfterSame: false,
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
    isLeft: ({ context }) => context.isLeft === true,
    followsPod: ({ context }) => {
      const volume = volumeOf(context);
      return volume !== undefined && dependsOnPod(volume);
    },
    hasToken: ({ context }) => renewAt(context) !== undefined,
    showsObjects: ({ context }) => showsCluster(context),
    /** It was lacking something that may be there by now. */
    mayHurry: ({ context }) => showsCluster(context) && afterChange(context) < context.retryAt,
    /** What it shows has changed since it was asked for, and may be of before. */
    isOutdated: or([stateIn({ mounting: 'outdated' }), stateIn({ mounted: { refreshing: 'outdated' } })]),
    isImage: ({ context }) => imageOf(context) !== undefined,
  },
  actions: {
    recordEvent: enqueueActions(({ context, enqueue }, messages: EventMessages) => {
      for (const event of recordedEvents(involvedPod(context.pod), messages)) enqueue.emit(event);
    }),
    report: sendTo(parent<PodEvent>(), ({ context }, params: { lifecycle: VolumeLifecycle }) => ({
      type: 'volume.changed' as const,
      name: context.name,
      lifecycle: params.lifecycle,
      ...(context.mounted === undefined ? {} : { mounted: context.mounted }),
    })),
    /**
     * An image that cannot be had holds up only those that mount it, and what cannot be had any more after a restart of the
     * agent nobody who runs; while the runtime is away nobody can start.
     */
    reportDelay: enqueueActions(({ context, event, enqueue }) => {
      const holdsUpAll = imageOf(context) === undefined && context.isInUse !== true;
      if (holdsUpAll || isRuntimeAway(context.failure)) return;
      if (event.type === 'image.changed' && !event.isDelayed) return;
      enqueue.sendTo(parent<PodEvent>(), { type: 'volume.changed', name: context.name, lifecycle: 'delayed' });
    }),
    update: assign(({ event }) => (event.type === 'volume.update' ? { pod: event.pod } : {})),
    /** Before the state that follows: it tells of what was recorded last. */
    tellFailure: enqueueActions(({ context, event, enqueue }) => {
      for (const told of recordedEvents(involvedPod(context.pod), mountFailed(context, event))) enqueue.emit(told);
    }),
    recordFailure: assign(({ context, event }) => withBackOff(context, failureOf(event))),
    hurry: assign(({ context }) => ({ retryAt: afterChange(context) })),
    takeMounted: assign((_, mounted: MountedVolume | null) => ({
      ...(mounted ? { mounted } : {}),
      // It shows what it has of tokens that could not be had anew.
      delayMs: 0,
      failure: mounted?.kind === 'path' ? mounted.failure : undefined,
    })),
    recordImage: assign(({ event }) => (event.type === 'image.changed' ? awaitedImage(event) : {})),
    updateImage: sendTo('image', ({ context }) => ({ type: 'image.update' as const, pod: context.pod })),
    releasePull: sendTo(served('pullLimiter'), ({ context }) => ({ type: 'slot.release', key: pullKey(context) })),
  },
});
