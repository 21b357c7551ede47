/** The words of a volume's chart: what it knows, its ports, guards and what it tells. The chart is in chart.ts. */

import { assign, enqueueActions, sendTo, setup } from 'xstate';
import { heldBy } from '../../pod/api/containers.ts';
import type { Pod } from '../../pod/api/schema/pod.ts';
import type { Volume } from '../../pod/api/schema/volume.ts';
import { followsPod } from '../../pod/environment/projection.ts';
import {
  type EventMessage,
  type EventMessages,
  eventMessagesOf,
  involvedPod,
  type RecordedEvent,
  recordedEvent,
} from '../../pod/events/recordedEvent.ts';
import type { Failure } from '../../pod/failure.ts';
import { nextBackOff, volumeBackOff } from '../../pod/lifecycle/backoff.ts';
import type { MountedVolume } from '../../pod/mountedVolume.ts';
import type { WaitingReason } from '../container/waitingReason.ts';
import {
  failedLook,
  failedPull,
  neverPullReason,
  pullBackOffReason,
  pullClaim,
  pullLimit,
} from '../image/waitingReason.ts';
import type { LimiterEvent, PodEvent, Ref, VolumeEvent, VolumeLifecycle } from '../shared/events.ts';
import { failureOf, isRuntimeAway } from '../shared/failure.ts';
import { port, timerPort } from '../shared/ports.ts';
import type { StateMeta } from '../shared/stateMeta.ts';

/** How long it may take to mount a volume: a little less than a kubelet lets a pod wait for its volumes. */
export const MOUNT_LIMIT_MS = 2 * 60_000;
/** A large emptyDir is deleted with it. */
export const UNMOUNT_LIMIT_MS = 20 * 60_000;

export interface VolumeInput {
  readonly pod: Pod;
  readonly name: string;
  readonly parent: Ref<PodEvent>;
  /** The pod's number in the order of arrival: who came first pulls first. */
  readonly ticket: number;
  readonly pullLimiter: Ref<LimiterEvent>;
}

export interface VolumeContext extends VolumeInput {
  /** What it hands to containers, once that is there. */
  readonly mounted?: MountedVolume;
  readonly failure?: Failure | undefined;
  /** The wait before the next try to mount it, in milliseconds. */
  readonly delayMs: number;
  /** The wait after the last pull that failed, in milliseconds. */
  readonly pullDelayMs: number;
  /** Why its image is not there, as a status shows it. */
  readonly waitingReason?: WaitingReason | undefined;
  /** When its image was last looked for: a pull may have to wait for its turn. */
  readonly soughtAt: number;
  /** How long the pull may take, in milliseconds; absent: as long as it takes. */
  readonly pullLimitMs?: number | undefined;
  /** When that try is due. */
  readonly retryAt: number;
}

const volumeOf = ({ pod, name }: VolumeContext): Volume | undefined =>
  pod.spec.volumes?.find((volume) => volume.name === name);

/** The image that a volume shows; undefined for every other kind of volume. */
const imageOf = (context: VolumeContext): Volume['image'] => volumeOf(context)?.image;

export const referenceOf = (context: VolumeContext): string => imageOf(context)?.reference ?? '';

const pullLimiterOf = ({ context }: { context: VolumeContext }) => context.pullLimiter;
const pullKey = ({ pod, name }: VolumeContext): string => `${pod.metadata.uid}/volume:${name}/pull`;

function withBackOff(context: VolumeContext, failure: Failure) {
  const delayMs = nextBackOff(context.delayMs, volumeBackOff);
  return { failure, delayMs, retryAt: failure.at + delayMs };
}

/** While the runtime is away that is the node's problem. */
export function mountFailed({ name }: VolumeContext, event: { type: string }): EventMessage[] {
  const failure = failureOf(event);
  if (isRuntimeAway(failure)) return [];
  const message = `MountVolume.SetUp failed for volume "${name}" : ${failure.message}`;
  return [{ eventType: 'Warning', reason: 'FailedMount', message }];
}

export const volumeSetup = setup({
  types: {
    input: {} as VolumeInput,
    context: {} as VolumeContext,
    events: {} as VolumeEvent,
    emitted: {} as RecordedEvent,
    meta: {} as StateMeta,
  },
  actors: {
    mountVolume: port('mountVolume'),
    unmountVolume: port('unmountVolume'),
    findImage: port('findImage'),
    pullImage: port('pullImage'),
    timer: timerPort(),
  },
  guards: {
    followsPod: ({ context }) => {
      const volume = volumeOf(context);
      return volume !== undefined && followsPod(volume);
    },
    isImage: ({ context }) => imageOf(context) !== undefined,
    needsNoPull: ({ context }, found: { imageRef: string | null }) =>
      found.imageRef !== null && imageOf(context)?.pullPolicy !== 'Always',
    /** The runtime went away in the middle of it: that says nothing about the image. */
    isCutOff: ({ event }) => isRuntimeAway(failureOf(event)),
    failedForRuntime: ({ context }) => isRuntimeAway(context.failure),
    mayNotPull: ({ context }) => imageOf(context)?.pullPolicy === 'Never',
  },
  actions: {
    recordEvent: enqueueActions(({ context, enqueue }, messages: EventMessages) => {
      for (const message of eventMessagesOf(messages)) enqueue.emit(recordedEvent(involvedPod(context.pod), message));
    }),
    /** What the volume cannot have, the containers wait for that their statuses show to be held by it: it is told of them too. */
    recordEventOfHeld: enqueueActions(({ context: { pod, name }, enqueue }, messages: EventMessages) => {
      for (const { container, role } of heldBy(pod.spec, [name])) {
        const involved = involvedPod(pod, { name: container.name, role });
        for (const message of eventMessagesOf(messages)) enqueue.emit(recordedEvent(involved, message));
      }
    }),
    report: sendTo(
      ({ context }) => context.parent,
      ({ context }, params: { lifecycle: VolumeLifecycle }) => ({
        type: 'volume.changed' as const,
        name: context.name,
        lifecycle: params.lifecycle,
        ...(context.mounted === undefined ? {} : { mounted: context.mounted }),
      }),
    ),
    /** An image that cannot be had holds up only those that mount it; while the runtime is away nobody can start. */
    reportDelay: enqueueActions(({ context, enqueue }) => {
      if (imageOf(context) === undefined || isRuntimeAway(context.failure)) return;
      enqueue.sendTo(context.parent, { type: 'volume.changed', name: context.name, lifecycle: 'delayed' });
    }),
    update: assign(({ event }) => (event.type === 'volume.update' ? { pod: event.pod } : {})),
    recordFailure: assign(({ context, event }) => withBackOff(context, failureOf(event))),
    recordLookFailure: assign(({ context, event }) => failedLook(context, referenceOf(context), failureOf(event))),
    recordPullFailure: assign(({ context, event }) => failedPull(context, failureOf(event))),
    showPullBackOff: assign(({ context }) => ({ waitingReason: pullBackOffReason(context, referenceOf(context)) })),
    showAbsence: assign(({ context }) => ({ waitingReason: neverPullReason(referenceOf(context)) })),
    forgetImageReason: assign({ pullDelayMs: 0, failure: undefined, waitingReason: undefined }),
    requestPull: sendTo(pullLimiterOf, ({ context, self }) => ({
      type: 'slot.request',
      key: pullKey(context),
      ...pullClaim(context, referenceOf(context)),
      holder: self,
    })),
    recordPullLimit: assign(({ event }) => pullLimit(event)),
    releasePull: sendTo(pullLimiterOf, ({ context }) => ({ type: 'slot.release', key: pullKey(context) })),
  },
});
