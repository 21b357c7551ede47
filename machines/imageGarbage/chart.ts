/**
 * Removes unused images (C47). Every five minutes, the machine determines which images exist and which of them are in
 * use. It removes unused images if the filesystem that contains them is nearly full or if they have been unused for too
 * long (`pkg/kubelet/images/image_gc_manager.go`, `StartGarbageCollection` in `pkg/kubelet/kubelet.go`).
 */
import { assertEvent, assign, enqueueActions, sendTo, setup } from 'xstate';
import type { Failure } from '../../base/failure.ts';
import { humanDuration } from '../../base/time/duration.ts';
import {
  type EventMessages,
  involvedNode,
  type RecordedEvent,
  recordedEvents,
  warning,
} from '../../kubernetes/events/recordedEvent.ts';
import {
  defaultImageGarbagePolicy,
  type ImageCollection,
  type ImageGarbagePolicy,
  isImageGarbageOff,
  usedPercent,
} from '../../kubernetes/images/imageGarbage.ts';
import type { CoverageGap } from '../shared/coverageGaps.ts';
import type { ImageGarbageEvent, ImageGarbageReport } from '../shared/events/upkeepEvents.ts';
import { port, timerPort } from '../shared/ports.ts';
import type { ActorInfo, StateMeta, StateTag } from '../shared/stateMeta.ts';
import { parent } from '../shared/views/actorRefs.ts';
import { failureOf } from '../shared/waiting/failure.ts';
import { after } from '../shared/waiting/waits.ts';

/** Interval between two image garbage collections, in milliseconds (`ImageGCPeriod`). */
const COLLECTION_INTERVAL_MS = 300_000;

// Type aliases rather than interfaces, because generated declaration files can inline an alias but can refer to an
// interface only by name.
type ImageGarbageInput = {
  readonly nodeName: string;
  /** Undefined for the kubelet's defaults. */
  readonly policy?: ImageGarbagePolicy | undefined;
};

/** The numerical results of an image garbage collection. The names of the removed images are only in the recording. */
type CollectionSummary = Pick<ImageCollection, 'imageCount' | 'unusedCount' | 'disk'> & {
  readonly removedCount: number;
  readonly removedBytes: number;
};

type ImageGarbageContext = {
  readonly nodeName: string;
  readonly policy: ImageGarbagePolicy;
  /**
   * UIDs of the pods that may still create containers, as reported by the node for this garbage collection. Empty
   * between two garbage collections.
   */
  readonly activePodUids: readonly string[];
  /** Result of the last image garbage collection. Undefined before the first one. */
  readonly collection?: CollectionSummary;
  readonly failure?: Failure | undefined;
};

const imageGarbageSetup = setup({
  types: {
    input: {} as ImageGarbageInput,
    context: {} as ImageGarbageContext,
    events: {} as ImageGarbageEvent,
    emitted: {} as RecordedEvent,
    meta: {} as StateMeta,
    tags: {} as StateTag,
  },
  actors: { collectImages: port('collectImages'), timer: timerPort() },
  guards: {
    isOff: ({ context: { policy } }) => isImageGarbageOff(policy),
    hasFailed: (_, { failure }: ImageCollection) => failure !== undefined,
  },
  actions: {
    recordEvents: enqueueActions(({ context, enqueue }, messages: EventMessages) => {
      for (const event of recordedEvents(involvedNode(context.nodeName), messages)) enqueue.emit(event);
    }),
    requestPods: sendTo(parent<ImageGarbageReport>(), { type: 'images.podsRequested' }),
    recordPods: assign(({ event }) => {
      assertEvent(event, 'images.podsListed');
      return { activePodUids: event.activePodUids };
    }),
    forgetPods: assign({ activePodUids: [] }),
    recordCollection: assign((_, { imageCount, unusedCount, disk, removed, failure }: ImageCollection) => ({
      collection: {
        imageCount,
        unusedCount,
        ...(disk ? { disk } : {}),
        removedCount: removed.length,
        removedBytes: removed.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
      },
      failure,
    })),
    recordFailure: assign(({ event }) => ({ failure: failureOf(event) })),
  },
});

const NEVER_OFF: CoverageGap = { reason: 'simulated nodes collect images; tested on its machine' };

const requestingPodsState = (target: string) =>
  imageGarbageSetup.createStateConfig({
    description: 'The node lists its pods, because pods that are starting may need images that no container has yet.',
    tags: 'working',
    meta: { waitsFor: 'the node to list its pods' },
    entry: 'requestPods',
    on: { 'images.podsListed': { target, actions: 'recordPods' } },
  });

/**
 * Returns a state in which unused images are removed. As in the kubelet, the first of several consecutive failures is
 * not reported, because statistics may not be available shortly after the agent has started.
 */
const collectingState = ({ reportsFailures }: { readonly reportsFailures: boolean }) => {
  const failureEvents = ({ message }: Failure) => (reportsFailures ? warning('ImageGCFailed', message) : []);
  return imageGarbageSetup.createStateConfig({
    description:
      'The images and their users are listed. Images that were unused for too long are removed, and then others if their filesystem is nearly full.',
    tags: 'working',
    meta: { waitsFor: 'unused images to be removed' },
    invoke: {
      src: 'collectImages',
      input: ({ context: { activePodUids } }) => ({ activePodUids }),
      onDone: [
        {
          guard: { type: 'hasFailed', params: ({ event }) => event.output },
          target: '#imageGarbage.failing.waiting',
          actions: [
            { type: 'recordCollection', params: ({ event }) => event.output },
            { type: 'recordEvents', params: ({ event }) => event.output.events ?? [] },
            {
              type: 'recordEvents',
              params: ({ event: { output } }) => (output.failure ? failureEvents(output.failure) : []),
            },
          ],
        },
        {
          target: '#imageGarbage.collecting.waiting',
          actions: { type: 'recordCollection', params: ({ event }) => event.output },
        },
      ],
      onError: {
        target: '#imageGarbage.failing.waiting',
        actions: ['recordFailure', { type: 'recordEvents', params: ({ event }) => failureEvents(failureOf(event)) }],
      },
    },
  });
};

const waitingState = (description: string, waitsFor: string, tag: StateTag) =>
  imageGarbageSetup.createStateConfig({
    description,
    tags: tag,
    meta: { waitsFor, afterMs: COLLECTION_INTERVAL_MS },
    entry: 'forgetPods',
    invoke: after(COLLECTION_INTERVAL_MS),
    on: { 'timer.elapsed': 'requestingPods' },
  });

export const imageGarbageMachine = imageGarbageSetup.createMachine({
  id: 'imageGarbage',
  description:
    'Garbage collection of images: those unused for too long, and others if their filesystem is nearly full.',
  meta: { facts: ({ snapshot: { context } }: ActorInfo<ImageGarbageContext>) => ({ facts: collectionFacts(context) }) },
  context: ({ input: { nodeName, policy = defaultImageGarbagePolicy } }) => ({ nodeName, policy, activePodUids: [] }),
  initial: 'choosing',
  states: {
    choosing: {
      description: 'The settings decide whether the node removes images.',
      tags: 'working',
      always: [{ guard: 'isOff', target: 'off', meta: { coverageGap: NEVER_OFF } }, { target: 'collecting' }],
    },
    collecting: {
      description: 'The last collection has succeeded, or there was none yet.',
      meta: { rules: ['C47'] },
      initial: 'requestingPods',
      states: {
        requestingPods: requestingPodsState('removing'),
        removing: collectingState({ reportsFailures: false }),
        waiting: waitingState(
          'The next collection starts five minutes after the last one.',
          'the next collection of images',
          'steady',
        ),
      },
    },
    failing: {
      description:
        'The last collection has failed: images could not be listed or removed, or too little space was freed.',
      meta: { rules: ['C47'] },
      initial: 'waiting',
      states: {
        waiting: waitingState(
          'The next collection follows after five minutes.',
          'another attempt to remove unused images',
          'retrying',
        ),
        requestingPods: requestingPodsState('removing'),
        removing: collectingState({ reportsFailures: true }),
      },
    },
    off: {
      description:
        'The settings disable the collection. Images are only detected, because evictions remove the least recently used first.',
      meta: { coverageGap: NEVER_OFF },
      initial: 'requestingPods',
      states: {
        requestingPods: requestingPodsState('detecting'),
        detecting: {
          description: 'The images and their users are listed.',
          tags: 'working',
          meta: { waitsFor: 'the runtime to list its images' },
          invoke: {
            src: 'collectImages',
            input: ({ context: { activePodUids } }) => ({ activePodUids }),
            onDone: {
              target: 'waiting',
              actions: { type: 'recordCollection', params: ({ event }) => event.output },
            },
            onError: { target: 'waiting', actions: 'recordFailure' },
          },
        },
        waiting: waitingState(
          'The images are detected again after five minutes.',
          'the next detection of images',
          'steady',
        ),
      },
    },
  },
});

const GB = 1e9;

/** Describes the result of the last image garbage collection and the thresholds of the next one. */
function collectionFacts({ policy, collection }: ImageGarbageContext): string[] {
  const { highThresholdPercent: high, lowThresholdPercent: low, maxAgeMs } = policy;
  const ruleTexts = isImageGarbageOff(policy)
    ? ['off (imageGCHighThresholdPercent is 100 and imageMaximumGCAge is 0s)']
    : [
        ...(high < 100 ? [`removes unused images from ${high} % to ${low} % usage`] : []),
        ...(maxAgeMs > 0 ? [`removes images unused for ${humanDuration(maxAgeMs)}`] : []),
      ];
  if (collection === undefined) return ruleTexts;
  const { imageCount, unusedCount, disk, removedCount, removedBytes } = collection;
  return [
    `${imageCount} images, ${unusedCount} unused`,
    ...(disk && disk.capacityBytes > 0
      ? [`filesystem ${usedPercent(disk)} % of ${(disk.capacityBytes / GB).toFixed(1)} GB used`]
      : []),
    ...(removedCount > 0 ? [`removed ${removedCount} images (${(removedBytes / GB).toFixed(1)} GB)`] : []),
    ...ruleTexts,
  ];
}
