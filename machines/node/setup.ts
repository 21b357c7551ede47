/** Defines types, children, feeds, guards and actions that several regions of the node's chart share. */
import { assertEvent, assign, enqueueActions, setup } from 'xstate';
import type { Failure } from '../../base/failure.ts';
import { withEntries, withoutEntry } from '../../base/values/withEntries.ts';
import { involvedNode, type RecordedEvent, recordedEvents } from '../../kubernetes/events/recordedEvent.ts';
import { conditionEvents } from '../../kubernetes/node/nodeConditions.ts';
import { admissionMachine } from '../admission/chart.ts';
import { certificateMachine } from '../certificate/chart.ts';
import { cgroupsMachine } from '../cgroups/chart.ts';
import { claimsMachine } from '../claims/chart.ts';
import { cpusMachine } from '../cpus/chart.ts';
import { devicesMachine } from '../devices/chart.ts';
import { evictionMachine } from '../eviction/chart.ts';
import { imageGarbageMachine } from '../imageGarbage/chart.ts';
import { leaseMachine } from '../lease/chart.ts';
import { limiterMachine } from '../limiter/chart.ts';
import { memoryManagerMachine } from '../memoryManager/chart.ts';
import { mirrorMachine } from '../mirror/chart.ts';
import { nodeStatusMachine } from '../nodeStatus/chart.ts';
import { podMachine } from '../pod/chart.ts';
import type { PodInput } from '../pod/context.ts';
import { registrationMachine } from '../registration/chart.ts';
import type { NodeEvent } from '../shared/events/events.ts';
import type { MachineDecision } from '../shared/events/machineDecision.ts';
import { feedPort, timerPort } from '../shared/ports.ts';
import type { StateMeta, StateTag } from '../shared/stateMeta.ts';
import { childrenOf } from '../shared/views/actorTree.ts';
import { lastAllocation, type PodRef } from '../shared/views/views.ts';
import { failureOf } from '../shared/waiting/failure.ts';
import { shutdownMachine } from '../shutdown/chart.ts';
import { statusSinkMachine } from '../statusSink/chart.ts';
import {
  eventPodUid,
  factChanges,
  mergeLeftovers,
  type NodeContext,
  type NodeInput,
  withObservedPods,
  withoutForeignObjects,
  withoutObservedPod,
  withoutRestoredFacts,
} from './context.ts';
import { terminatingEntry } from './pods/endings.ts';
import { invalidPodEvents } from './pods/invalidPods.ts';
import { brokenPod, haveAllSourcesListed, sourceChanges } from './pods/wanted.ts';
import { confirmedProcessKills } from './runtime/processKills.ts';
import { nextReadiness } from './runtime/readiness.ts';
import { garbageMachine } from './upkeep/garbage.ts';
import { logRotationMachine } from './upkeep/logRotation.ts';

export const podId = (uid: string) => `pod/${uid}` as const;
export const sinkId = (name: string) => `statusSink/${name}` as const;

export interface NodeArgs {
  readonly context: NodeContext;
  readonly event: NodeEvent;
}

/** Inputs of the pod actors to spawn. Either all of the pods are desired, or all of them have to terminate. */
type PodsToSpawn = {
  readonly inputs: readonly PodInput[];
  readonly isTerminating: boolean;
};

export const nodeSetup = setup({
  types: {
    input: {} as NodeInput,
    context: {} as NodeContext,
    events: {} as NodeEvent,
    emitted: {} as RecordedEvent | MachineDecision,
    meta: {} as StateMeta,
    tags: {} as StateTag | 'beginning' | 'active' | 'ending' | 'draining',
    children: {} as { [id: `pod/${string}`]: 'pod' } & { [id: `statusSink/${string}`]: 'statusSink' } & {
      [id: `mirror/${string}`]: 'mirror';
    } & { [id: `certificate/${string}`]: 'certificate' } & {
      [Id in
        | 'admission'
        | 'cgroups'
        | 'claims'
        | 'cpus'
        | 'devices'
        | 'eviction'
        | 'garbage'
        | 'imageGarbage'
        | 'lease'
        | 'logRotation'
        | 'memoryManager'
        | 'nodeStatus'
        | 'registration'
        | 'shutdown']: Id;
    } & { [Id in 'startLimiter' | 'pullLimiter']: 'limiter' },
  },
  actors: {
    pod: podMachine,
    limiter: limiterMachine,
    admission: admissionMachine,
    cgroups: cgroupsMachine,
    claims: claimsMachine,
    eviction: evictionMachine,
    cpus: cpusMachine,
    devices: devicesMachine,
    garbage: garbageMachine,
    imageGarbage: imageGarbageMachine,
    logRotation: logRotationMachine,
    memoryManager: memoryManagerMachine,
    shutdown: shutdownMachine,
    statusSink: statusSinkMachine,
    registration: registrationMachine,
    nodeStatus: nodeStatusMachine,
    lease: leaseMachine,
    certificate: certificateMachine,
    mirror: mirrorMachine,
    sources: feedPort('sources'),
    addresses: feedPort('addresses'),
    ticker: feedPort('ticker'),
    watches: feedPort('watches'),
    podCidr: feedPort('podCidr'),
    oomWatcher: feedPort('oomWatcher'),
    drivers: feedPort('drivers'),
    pleg: feedPort('pleg'),
    runtimeHealth: feedPort('runtimeHealth'),
    timer: timerPort(),
  },
  guards: {
    haveAllSourcesListed: ({ context }) => haveAllSourcesListed(context),
    /** Whether the pod's actor reports that the pod has been removed completely. */
    isPodRemoved: ({ event }) =>
      'output' in event &&
      typeof event.output === 'object' &&
      event.output !== null &&
      'isGone' in event.output &&
      event.output.isGone === true,
    isFromPod: ({ event }) => eventPodUid(event) !== undefined,
  },
  actions: {
    /**
     * Spawns the actors of pods. Other actions spawn pods only through this one. Before the actor of a terminating pod
     * is spawned, admission reserves the resources and the name that the pod still holds (C24).
     */
    spawnPods: enqueueActions(({ context, enqueue }, { inputs, isTerminating }: PodsToSpawn) => {
      if (inputs.length === 0) return;
      const newEntries = inputs.map(({ pod }) => [pod.metadata.uid, { pod, isTerminating }] as const);
      for (const input of inputs) {
        const { pod, observed, termination } = input;
        if (termination) enqueue.sendTo('admission', terminatingEntry(context, pod, observed));
        enqueue.spawnChild('pod', { id: podId(pod.metadata.uid), input });
      }
      const arrivalCount = Math.max(context.arrivalCount, ...inputs.map(({ arrivalOrder }) => arrivalOrder));
      enqueue.assign({ pods: withEntries(context.pods, newEntries), arrivalCount });
    }),
    /**
     * Records that the readiness has changed, and emits an event about the change. In a cluster, the node status report
     * emits the event instead, because it compares the readiness with the condition in the Node object.
     */
    recordReadiness: enqueueActions(({ context, event, enqueue }) => {
      const readiness = nextReadiness(context, event);
      if (readiness === context.readiness) return;
      enqueue.assign({ readiness });
      if (context.cluster !== undefined) return;
      const status = readiness.isReady ? 'True' : 'False';
      const messages = conditionEvents(context.nodeName, { type: 'Ready', status });
      for (const each of recordedEvents(involvedNode(context.nodeName), messages)) enqueue.emit(each);
    }),
    recordSource: enqueueActions(({ context, event, enqueue }) => {
      for (const each of invalidPodEvents(context, event)) enqueue.emit(each);
      enqueue.assign(sourceChanges(context, event));
    }),
    recordObservedPods: assign(({ context, event }) => {
      assertEvent(event, 'runtime.podsObserved');
      return { observed: withObservedPods(context, event.pods), lastFactAt: event.at };
    }),
    /**
     * Reports OOM kills after which the container continues to run. The kill of a whole container is reported by the
     * container itself.
     */
    confirmProcessKills: enqueueActions(({ context, enqueue }) => {
      const { processKills, events } = confirmedProcessKills(context);
      if (processKills === context.processKills) return;
      enqueue.assign({ processKills });
      for (const each of events) enqueue.emit(each);
    }),
    recordFact: assign(({ context, event }) => factChanges(context, event)),
    routeObservedPods: enqueueActions(({ context, event, enqueue }) => {
      assertEvent(event, 'runtime.podsObserved');
      for (const observed of event.pods) {
        const pod = withoutForeignObjects(context, observed);
        if (Object.hasOwn(context.pods, pod.uid)) enqueue.sendTo(podId(pod.uid), { type: 'runtime.podObserved', pod });
      }
    }),
    /**
     * Removes a pod from the context after its actor has stopped. Either the pod has terminated, or the actor has
     * failed and is respawned at the next tick.
     */
    forgetPod: enqueueActions(({ context, event, enqueue }) => {
      const uid = eventPodUid(event);
      if (uid === undefined) return;
      enqueue.stopChild(podId(uid));
      enqueue.assign({ pods: withoutEntry(context.pods, uid) });
    }),
    /** Saves the last allocation of a failed actor, from which the actor's replacement continues (C25). */
    saveAllocation: assign(({ context, event, self }) => {
      const uid = eventPodUid(event) ?? '';
      const pod = childrenOf<PodRef>(self.getSnapshot(), 'pod/').find(({ id }) => id === podId(uid));
      const savedAllocation = pod && lastAllocation(pod);
      return savedAllocation ? { allocations: { ...context.allocations, [uid]: savedAllocation } } : {};
    }),
    /**
     * If the actor of a pod that is no longer desired has failed, records the pod as a leftover pod, because the
     * runtime may have no object left from which the pod could be detected.
     */
    recordLeftover: assign(({ context, event }) => {
      const leftover = brokenPod(context, eventPodUid(event));
      return leftover ? { left: mergeLeftovers(context.left, [{ ...leftover, isMarked: true }]) } : {};
    }),
    /**
     * Drops the observations of a terminated pod, which are older than its termination. Any remaining object is
     * reported again as a change.
     */
    forgetObservations: assign(({ context, event }) => ({
      ...withoutObservedPod(context, eventPodUid(event)),
      ...withoutRestoredFacts(context, eventPodUid(event)),
    })),
    /** Releases the slots of a pod's failed actor, which did not release them itself. */
    releaseAllSlots: enqueueActions(({ event, enqueue }) => {
      const uid = eventPodUid(event);
      if (uid === undefined) return;
      enqueue.sendTo('startLimiter', { type: 'slot.forget', uid });
      enqueue.sendTo('pullLimiter', { type: 'slot.forget', uid });
    }),
    /** Records the fatal failure of a part of the node. */
    recordFatalFailure: assign(({ event }) => {
      const { part, failure } = fatalFailure(event);
      return { failure: { ...failure, message: `${part} of the node agent failed: ${failure.message}` } };
    }),
  },
});

/** Returns the failed part of the node agent and its failure. */
function fatalFailure(event: NodeEvent): { readonly part: string; readonly failure: Failure } {
  if (event.type !== 'feed.ended') {
    return { part: 'actorId' in event ? String(event.actorId) : 'a part', failure: failureOf(event) };
  }
  const { feed: part, failure = { reason: 'InternalError', message: 'it has returned', at: event.at } } = event;
  return { part, failure };
}

/** The argument that the node's actions receive. */
export type NodeActionArgs = Parameters<Parameters<typeof nodeSetup.enqueueActions>[0]>[0];
