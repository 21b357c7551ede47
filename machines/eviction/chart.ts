/**
 * Protects the node from running out of memory, disk space or processes (C28). Every ten seconds, a pass measures the
 * remaining resources, reclaims disk space and, if that is not enough, evicts one pod. Pods that exceed their
 * ephemeral-storage limits are always evicted.
 */
import { assertEvent, assign, enqueueActions, sendTo, setup } from 'xstate';
import { involvedNode, type RecordedEvent, recordedEvent, warning } from '../../kubernetes/events/recordedEvent.ts';
import { EVICTED } from '../../kubernetes/eviction/message.ts';
import { resourceOf } from '../../kubernetes/eviction/signals.ts';
import type { RemovedImage } from '../../kubernetes/images/imageGarbage.ts';
import type { EvictionEvent, EvictionReport } from '../shared/events/evictionEvents.ts';
import type { MachineDecision } from '../shared/events/machineDecision.ts';
import { feedPort, type PortTypes, port, timerPort } from '../shared/ports.ts';
import type { ActorInfo, StateMeta, StateTag } from '../shared/stateMeta.ts';
import { parent } from '../shared/views/actorRefs.ts';
import { failureOf } from '../shared/waiting/failure.ts';
import { after } from '../shared/waiting/waits.ts';
import {
  areEvictedPodsCleanedUp,
  assessMeasurement,
  type Eviction,
  type EvictionContext,
  type EvictionInput,
  haveEvictedPodsStopped,
  initialEvictionContext,
  isRelieved,
  limitedUids,
  nextEviction,
  podsToMeasure,
  reclaimSteps,
  startedReclaim,
  stopLimitMs,
} from './context.ts';
import { facts } from './facts.ts';

/** Interval between two passes in milliseconds (`evictionMonitoringPeriod` in `pkg/kubelet/kubelet.go`). */
const PASS_INTERVAL_MS = 10_000;
/** Time limit in milliseconds for cleaning up a stopped pod (`podCleanupTimeout` in `eviction_manager.go`). */
const CLEANUP_LIMIT_MS = 30_000;

const measurementOf = (event: object): PortTypes['measureResources']['output'] | undefined =>
  // Safe cast: only transitions on the completion of `measureResources` call this function.
  'output' in event ? (event.output as PortTypes['measureResources']['output']) : undefined;

/** Returns the usage of pods in the response of `measurePods`. */
const podMeasurementOf = (event: object): PortTypes['measurePods']['output'] =>
  // Safe cast: only transitions on the completion of `measurePods` call this function.
  'output' in event ? (event.output as PortTypes['measurePods']['output']) : { usages: {}, at: 0 };

/** Returns the event that the node records before it evicts a pod. */
const evictedEvent = ({ involved, termination: { message = '' }, annotations }: Eviction): RecordedEvent => {
  const hasAnnotations = Object.keys(annotations).length > 0;
  return recordedEvent(involved, { ...warning(EVICTED, message), ...(hasAnnotations ? { annotations } : {}) });
};

export const evictionMachine = setup({
  types: {
    input: {} as EvictionInput,
    context: {} as EvictionContext,
    events: {} as EvictionEvent,
    emitted: {} as RecordedEvent | MachineDecision,
    meta: {} as StateMeta,
    tags: {} as StateTag,
  },
  actors: {
    measureResources: port('measureResources'),
    measurePods: port('measurePods'),
    removeGarbage: port('removeGarbage'),
    removeUnusedImages: port('removeUnusedImages'),
    memory: feedPort('memory'),
    timer: timerPort(),
  },
  guards: {
    mustEvict: ({ context }) => context.evictions.length > 0,
    isAtEase: ({ context }) => context.acting.length === 0,
    canReclaim: ({ context }) => reclaimSteps(context).length > 0,
    hasNoDeadContainers: ({ context }) =>
      !reclaimSteps(context).includes('deadContainers') || context.deadContainers.length === 0,
    needsNoImages: ({ context }) => !reclaimSteps(context).includes('unusedImages'),
    isRelieved: ({ context, event }) => {
      const measurement = measurementOf(event);
      return measurement !== undefined && isRelieved(context, measurement);
    },
    haveStopped: ({ context }) => haveEvictedPodsStopped(context),
    areCleanedUp: ({ context }) => areEvictedPodsCleanedUp(context),
  },
  actions: {
    requestPods: sendTo(parent<EvictionReport>(), { type: 'eviction.podsRequested' }),
    recordPods: assign(({ event }) => {
      assertEvent(event, 'eviction.podsListed');
      return { pods: event.pods, deadContainers: event.deadContainers };
    }),
    forgetPods: assign({ pods: [], deadContainers: [], acting: [] }),
    /** Assesses the measurement, and reports changed conditions to the node. */
    assessThresholds: enqueueActions(({ context, event, enqueue }) => {
      const measurement = measurementOf(event);
      if (measurement === undefined) return;
      const changes = assessMeasurement(context, measurement);
      enqueue.assign(changes);
      const { conditions = [] } = changes;
      if (conditions.join() === context.conditions.join()) return;
      const { at } = measurement;
      enqueue.sendTo(parent<EvictionReport>(), { type: 'eviction.pressureChanged', conditions, at });
    }),
    recordFailure: assign(({ event }) => ({ failure: failureOf(event) })),
    /** Records an event about the resource that the node is about to reclaim. */
    recordAttempt: enqueueActions(({ context: { nodeName, acting }, enqueue }) => {
      const [threshold] = acting;
      if (threshold === undefined) return;
      const message = `Attempting to reclaim ${resourceOf(threshold.signal)}`;
      enqueue.emit(recordedEvent(involvedNode(nodeName), warning('EvictionThresholdMet', message)));
    }),
    startReclaim: assign(({ context }) => {
      const reclaim = startedReclaim(context);
      return reclaim === undefined ? {} : { reclaim };
    }),
    recordRemovedContainers: assign(({ context: { reclaim, deadContainers } }) =>
      reclaim === undefined ? {} : { reclaim: { ...reclaim, containerCount: deadContainers.length } },
    ),
    recordRemovedImages: assign(({ context: { reclaim } }, removed: readonly RemovedImage[]) => {
      const imageBytes = removed.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
      return reclaim === undefined ? {} : { reclaim: { ...reclaim, imageCount: removed.length, imageBytes } };
    }),
    /** Chooses the first evictable pod in the ranking as the victim. */
    chooseVictim: enqueueActions(({ context, event, enqueue }) => {
      const measurement = podMeasurementOf(event);
      for (const { signal } of context.acting) {
        const ageMs = measurement.at - (context.pressure.observations[signal]?.at ?? measurement.at);
        enqueue.emit({ type: 'decision.counted', decision: 'evictionStatsUsed', signal, ageMs });
      }
      const eviction = nextEviction(context, measurement);
      if (eviction !== undefined) enqueue.assign({ evictions: [eviction] });
    }),
    /** Records the evictions and requests that the node terminate the pods. */
    evict: enqueueActions(({ context: { evictions }, enqueue }) => {
      for (const eviction of evictions) {
        const { uid, cause } = eviction;
        enqueue.emit(evictedEvent(eviction));
        enqueue.emit({ type: 'decision.counted', decision: 'evicted', uid, cause });
      }
      const victims = evictions.map(({ uid, termination }) => ({ uid, termination }));
      enqueue.sendTo(parent<EvictionReport>(), { type: 'eviction.podsChosen', victims });
    }),
    recordStopped: assign(({ context, event }) => {
      assertEvent(event, 'pod.stopped');
      return { stoppedUids: [...context.stoppedUids, event.uid] };
    }),
    recordCleanedUp: assign(({ context, event }) => {
      assertEvent(event, 'pod.cleanedUp');
      return { cleanedUpUids: [...context.cleanedUpUids, event.uid] };
    }),
    forgetEvictions: assign({ evictions: [], stoppedUids: [], cleanedUpUids: [] }),
  },
}).createMachine({
  id: 'eviction',
  description: 'The eviction of pods from a node that runs out of memory, disk space or processes.',
  meta: {
    rules: ['C28'],
    facts,
    deadlines: ({ since, snapshot: { context } }: ActorInfo<EvictionContext>) => ({
      stopBy: since + stopLimitMs(context),
    }),
  },
  context: ({ input }) => initialEvictionContext(input),
  invoke: { src: 'memory' },
  initial: 'requestingPods',
  states: {
    waiting: {
      description: 'The next pass follows after ten seconds, or as soon as the memory falls below a threshold.',
      tags: 'steady',
      meta: { waitsFor: "the next check of the node's resources", afterMs: PASS_INTERVAL_MS },
      entry: 'forgetPods',
      invoke: after(PASS_INTERVAL_MS),
      on: { 'timer.elapsed': 'requestingPods', 'memory.thresholdMet': 'requestingPods' },
    },
    requestingPods: {
      description: 'The node lists its running pods and dead containers.',
      tags: 'working',
      meta: { waitsFor: 'the node to list its pods' },
      entry: ['forgetEvictions', 'requestPods'],
      on: { 'eviction.podsListed': { target: 'measuring', actions: 'recordPods' } },
    },
    measuring: {
      description:
        'The free memory, disk space and processes of the node are measured, and the disk usage of pods with limits.',
      tags: 'working',
      meta: { waitsFor: "the node's resources to be measured" },
      invoke: {
        src: 'measureResources',
        input: ({ context }) => ({ limitedUids: limitedUids(context) }),
        onDone: { target: 'deciding', actions: 'assessThresholds' },
        onError: { target: 'waiting', actions: 'recordFailure' },
      },
    },
    deciding: {
      description: 'It is decided whether pods exceed their limits and whether a threshold acts.',
      tags: 'working',
      always: [
        {
          guard: 'mustEvict',
          target: 'evicting',
          meta: { coverageGap: { reason: 'simulated pods write no files; tested on its machine' } },
        },
        { guard: 'isAtEase', target: 'waiting' },
        { guard: 'canReclaim', target: 'reclaiming', actions: ['recordAttempt', 'startReclaim'] },
        { target: 'ranking', actions: 'recordAttempt' },
      ],
    },
    reclaiming: {
      description: 'Disk space is reclaimed before any pod is evicted.',
      tags: 'working',
      initial: 'removingContainers',
      states: {
        removingContainers: {
          description: 'Dead containers are removed with their logs, but for those to retain of running pods.',
          meta: { waitsFor: 'dead containers to be removed' },
          always: { guard: 'hasNoDeadContainers', target: 'removingImages' },
          invoke: {
            src: 'removeGarbage',
            input: ({ context: { deadContainers } }) => ({ containers: deadContainers, sandboxes: [] }),
            onDone: { target: 'removingImages', actions: 'recordRemovedContainers' },
            // Failed removals of containers are retried in the next eviction pass.
            onError: { target: 'removingImages', actions: 'recordFailure' },
          },
        },
        removingImages: {
          description: 'All unused images are removed, except for those that were just pulled.',
          meta: { waitsFor: 'unused images to be removed' },
          always: { guard: 'needsNoImages', target: 'measuring' },
          invoke: {
            src: 'removeUnusedImages',
            input: ({ context: { pods } }) => ({ activePodUids: pods.map(({ metadata }) => metadata.uid) }),
            onDone: {
              target: 'measuring',
              actions: { type: 'recordRemovedImages', params: ({ event }) => event.output.removed },
            },
            onError: { target: 'measuring', actions: 'recordFailure' },
          },
        },
        measuring: {
          description: 'The resources are measured again.',
          meta: { waitsFor: "the node's resources to be measured again" },
          invoke: {
            src: 'measureResources',
            input: { limitedUids: [] },
            onDone: [{ guard: 'isRelieved', target: '#eviction.waiting' }, { target: '#eviction.ranking' }],
            onError: { target: '#eviction.ranking', actions: 'recordFailure' },
          },
        },
      },
    },
    ranking: {
      description: 'The usage of the scarce resource by all running pods is measured, by which they are ranked.',
      tags: 'working',
      meta: { waitsFor: 'the usage of pods to be measured' },
      invoke: {
        src: 'measurePods',
        input: ({ context }) => podsToMeasure(context),
        onDone: { target: 'choosing', actions: 'chooseVictim' },
        onError: { target: 'waiting', actions: 'recordFailure' },
      },
    },
    choosing: {
      description: 'The first pod in the ranking that is not critical is evicted, if there is one.',
      tags: 'working',
      always: [{ guard: 'mustEvict', target: 'evicting' }, { target: 'waiting' }],
    },
    evicting: {
      description: 'The chosen pod terminates. The next pass starts as soon as it is gone.',
      tags: 'working',
      entry: 'evict',
      initial: 'stopping',
      on: {
        'pod.stopped': { actions: 'recordStopped' },
        'pod.cleanedUp': { actions: 'recordCleanedUp' },
      },
      states: {
        stopping: {
          description: 'The processes of the pod are stopped within its grace period.',
          meta: { waitsFor: 'the evicted pod to stop', until: 'stopBy' },
          always: { guard: 'haveStopped', target: 'cleaningUp' },
          invoke: after((context: EvictionContext) => stopLimitMs(context)),
          on: { 'timer.elapsed': 'cleaningUp' },
        },
        cleaningUp: {
          description: 'The volumes and the cgroup of the pod are removed.',
          meta: { waitsFor: 'the evicted pod to be cleaned up', afterMs: CLEANUP_LIMIT_MS },
          always: { guard: 'areCleanedUp', target: '#eviction.requestingPods' },
          invoke: after(CLEANUP_LIMIT_MS),
          on: { 'timer.elapsed': '#eviction.requestingPods' },
        },
      },
    },
  },
});
