/**
 * Runs one pod. Controls the order of volumes, sandbox and containers, both when the pod starts and when it terminates.
 */
import { assertEvent, assign, enqueueActions, sendTo } from 'xstate';
import { lookUp } from '../../base/values/lookUp.ts';
import { containersOf } from '../../kubernetes/api/pods/containers.ts';
import { affectedByChange } from '../../kubernetes/lifecycle/update.ts';
import { NO_ACTOR_FAILS, NO_STALE_DEADLINE } from '../shared/coverageGaps.ts';
import type { ContainerEvent } from '../shared/events/events.ts';
import type { ActorInfo } from '../shared/stateMeta.ts';
import { sharedActor } from '../shared/views/actorRefs.ts';
import { failureOf } from '../shared/waiting/failure.ts';
import { censusOf, withLifecycles } from './containers/census.ts';
import { containerId, sendBatch, sendCommands, volumeId } from './containers/commands.ts';
import { initialPodContext, mountedVolumes, type PodContext, withContainer, withVolume } from './context.ts';
import { facts } from './facts.ts';
import { recordDeadlineEvent, recordTerminationEvent } from './recordedEvents.ts';
import { podSetup } from './setup.ts';
import { active, activeImplementations } from './states/active.ts';
import {
  admitting,
  admittingImplementations,
  awaitingOtherAgent,
  countingRestarts,
  restartsCounted,
} from './states/admitting.ts';
import { creatingSandboxImplementations } from './states/creatingSandbox.ts';
import { preparing, preparingImplementations } from './states/preparing.ts';
import { resetting, resettingImplementations } from './states/resetting.ts';
import { resizingImplementations } from './states/resizing.ts';
import { sandboxing, sandboxingImplementations } from './states/sandboxing.ts';
import { terminating, terminatingImplementations } from './states/terminating.ts';
import { computeActiveDeadline, computeKillDeadline, deadlineOf } from './termination.ts';

/**
 * The machine's setup, including the guards and actions of all regions and those for events that every state handles.
 */
const chartSetup = podSetup
  .extend(admittingImplementations)
  .extend(preparingImplementations)
  .extend(creatingSandboxImplementations)
  .extend(sandboxingImplementations)
  .extend(resizingImplementations)
  .extend(activeImplementations)
  .extend(resettingImplementations)
  .extend(terminatingImplementations)
  .extend({
    guards: {
      /** Whether the pod's phase on the API server is already terminal because this node reported it. */
      isPhaseAlreadyTerminal: ({ event }) => {
        assertEvent(event, 'pod.terminate');
        return event.termination.reason === 'EndedElsewhere';
      },
      isDeadlineStale: ({ context }) => computeActiveDeadline(context) !== context.activeDeadline,
      isKillLimitStale: ({ context }) => computeKillDeadline(context) !== context.killDeadline,
    },
    actions: {
      releaseAdmission: sendTo(sharedActor('admission'), ({ context }) => ({
        type: 'admission.release',
        uid: context.allocated.metadata.uid,
      })),
      releaseAllSlots: enqueueActions(({ context, enqueue }) => {
        const event = { type: 'slot.forget' as const, uid: context.allocated.metadata.uid };
        enqueue.sendTo(sharedActor('startLimiter'), event);
        enqueue.sendTo(sharedActor('pullLimiter'), event);
      }),
      startActiveDeadline: enqueueActions(({ context, enqueue }) => {
        const deadline = computeActiveDeadline(context);
        enqueue.stopChild('activeDeadline');
        enqueue.assign({ activeDeadline: deadline });
        if (deadline === undefined) return;
        enqueue.spawnChild('activeDeadline', { id: 'activeDeadline', input: { deadline, isTerminationLimit: false } });
      }),
      startKillLimit: enqueueActions(({ context, enqueue }) => {
        const deadline = computeKillDeadline(context);
        enqueue.stopChild('killLimit');
        enqueue.assign({ killDeadline: deadline });
        if (deadline === undefined) return;
        enqueue.spawnChild('activeDeadline', { id: 'killLimit', input: { deadline, isTerminationLimit: true } });
      }),
      sendNextBatch: enqueueActions(({ context, enqueue }) => sendBatch(enqueue, context)),
      recordRewanted: assign({ isRewanted: true }),
      recordConditions: assign(({ event }) => {
        assertEvent(event, 'pod.conditionsChanged');
        return { conditions: event.conditions };
      }),
      recordClaims: assign(({ event }) => {
        assertEvent(event, 'pod.claimsChanged');
        return { claims: event.claims };
      }),
      recordVolume: assign(({ context, event }) => {
        assertEvent(event, 'volume.changed');
        const { name, lifecycle, mountedVolume } = event;
        return {
          volumes: withVolume(context.volumes, name, { lifecycle, ...(mountedVolume ? { mountedVolume } : {}) }),
        };
      }),
      recordContainer: assign(({ context, event }) => {
        assertEvent(event, 'container.changed');
        if (!Object.hasOwn(context.containers, event.name)) return {};
        return {
          containers: withLifecycles(context, new Map([[event.name, event.lifecycle]])),
          ...(event.id === undefined || lookUp(context.containerIds, event.name) === event.id
            ? {}
            : { containerIds: { ...context.containerIds, [event.name]: event.id } }),
          endedAt: Math.max(context.endedAt, event.endedAt ?? 0),
        };
      }),
      recordNetworkStatus: assign(({ event }) => {
        assertEvent(event, 'runtime.networkChanged');
        return { networkNotReady: event.networkNotReady };
      }),
      recordDevices: assign(({ event }) => {
        assertEvent(event, 'pod.devicesChanged');
        return { devices: event.devices };
      }),
      recordActorFailure: assign(({ event }) => ({ failure: failureOf(event) })),
      /**
       * Sends a newly mounted volume to the containers that already have an actor. This happens if an update has added
       * the volume.
       */
      announceMountedVolume: enqueueActions(({ context, event, enqueue }) => {
        assertEvent(event, 'volume.changed');
        if (event.lifecycle !== 'mounted') return;
        const { allocated: pod, containers } = context;
        const specContainers = containersOf(pod.spec);
        // Return early, because a thousand volumes may be mounted before any container has an actor.
        if (censusOf(context).missingActorCount === specContainers.length) return;
        const names = specContainers.map(({ container }) => container.name);
        const existingNames = names.filter((name) => Object.hasOwn(containers, name));
        const update: ContainerEvent = { type: 'container.update', pod, volumes: mountedVolumes(context) };
        sendCommands(enqueue, context, [{ names: existingNames, event: update }]);
      }),
      /** Sends the new metadata to the volumes and containers that expose a changed part of the metadata. */
      forwardMetadata: enqueueActions(({ context, event, enqueue }) => {
        assertEvent(event, 'pod.metadataChanged');
        const pod = { ...context.allocated, metadata: event.metadata };
        const { volumes, containers } = affectedByChange(context.allocated, pod);
        const names = containers.filter((each) => Object.hasOwn(context.containers, each));
        const volumeNames = volumes.filter((each) => Object.hasOwn(context.volumes, each));
        sendCommands(enqueue, context, [
          { to: 'volumes', names: volumeNames, event: { type: 'volume.update', pod } },
          { names, event: { type: 'container.update', pod, volumes: mountedVolumes(context) } },
        ]);
      }),
      /**
       * Stops the actors of a failed pod in reverse order. A final state would stop the first child first, and each
       * removal would make V8 convert the remaining children to a hash table, which takes 2 ms for 1,000 of them.
       */
      stopActorsOfBrokenPod: enqueueActions(({ context, enqueue }) => {
        for (const name of Object.keys(context.containers).reverse()) enqueue.stopChild(containerId(name));
        for (const name of Object.keys(context.volumes).reverse()) enqueue.stopChild(volumeId(name));
      }),
      /** Notifies volumes and containers that objects to which they refer may have been created or changed. */
      forwardObjectChange: enqueueActions(({ context, enqueue }) => {
        sendCommands(enqueue, context, [
          { to: 'volumes', names: Object.keys(context.volumes), event: { type: 'volume.objectsChanged' } },
          { names: Object.keys(context.containers), event: { type: 'container.objectsChanged' } },
        ]);
      }),
      /** Applies a change to one container without waiting for the next full list of the pod's objects. */
      recordObservedContainer: enqueueActions(({ context, event, enqueue }) => {
        assertEvent(event, 'runtime.containerSeen');
        const { container } = event;
        enqueue.assign({ observed: withContainer(context.observed, container) });
        if (!Object.hasOwn(context.containers, container.name)) return;
        const observedEvent: ContainerEvent = { type: 'runtime.containerObserved', id: container.id, container };
        sendCommands(enqueue, context, [{ names: [container.name], event: observedEvent }]);
      }),
    },
  });

export const podMachine = chartSetup.createMachine({
  id: 'pod',
  description: 'One pod: volumes, sandbox and containers come up in this order and are torn down again.',
  meta: {
    deadlines: ({ snapshot: { context } }: ActorInfo<PodContext>) =>
      context.termination ? { deadline: deadlineOf(context.termination) } : {},
    facts,
    regions: [
      { id: 'start', title: 'admission and preparation' },
      { id: 'sandbox', title: 'sandbox' },
      { id: 'run', title: 'run' },
      { id: 'end', title: 'termination' },
    ],
  },
  context: ({ input }) => initialPodContext(input),
  initial: 'new',
  always: [
    { guard: 'isDeadlineStale', actions: 'startActiveDeadline' },
    { guard: 'isKillLimitStale', actions: 'startKillLimit' },
  ],
  on: {
    'pod.update': { actions: ['recordDesiredPod', 'recordResizeRefusal', 'requestAdmission'] },
    'pod.metadataChanged': { actions: ['forwardMetadata', 'recordMetadata'] },
    'pod.conditionsChanged': { actions: 'recordConditions' },
    'pod.objectsChanged': { actions: 'forwardObjectChange' },
    'pod.claimsChanged': { actions: 'recordClaims' },
    'pod.rewanted': { actions: 'recordRewanted' },
    'pod.terminate': { target: '.terminating', actions: ['recordTermination', recordTerminationEvent] },
    'pod.deadlineExceeded': { target: '.terminating', actions: ['recordExceededDeadline', recordDeadlineEvent] },
    'volume.changed': { actions: ['recordVolume', 'announceMountedVolume'] },
    'container.changed': { actions: 'recordContainer' },
    'container.sized': { actions: 'recordContainerSize' },
    'pod.batchDue': { actions: 'sendNextBatch' },
    'runtime.podObserved': { actions: 'recordObservedPod' },
    'runtime.containerSeen': { actions: 'recordObservedContainer' },
    'runtime.returned': { actions: 'forwardRuntimeReturn' },
    'runtime.networkChanged': { actions: 'recordNetworkStatus' },
    'pod.devicesChanged': { actions: 'recordDevices' },
    'admission.admitted': { actions: 'applyAdmittedUpdate' },
    'admission.refused': { actions: ['recordUpdateRefusal', 'recordResizeRefusal', 'applyUpdateWithoutResize'] },
    // A child actor has failed with an internal error. The node respawns the pod's actor from the observed state.
    'xstate.error.actor.*': { target: '.broken', actions: 'recordActorFailure', meta: { coverageGap: NO_ACTOR_FAILS } },
  },
  states: {
    new: {
      description: 'The actor has just started and inspects what is known of the pod.',
      tags: ['working', 'settingUp'],
      meta: { region: 'start' },
      always: [
        { guard: 'mustTerminate', target: 'terminating' },
        { guard: 'isRunByOtherAgent', target: 'awaitingOtherAgent' },
        { guard: 'hasLostRuns', target: 'countingRestarts' },
        { target: 'admitting' },
      ],
    },
    countingRestarts,
    restartsCounted,
    awaitingOtherAgent,
    admitting,
    refused: {
      description: 'The node has not admitted the pod. It remains Failed until no source wants it.',
      tags: ['failed', 'ended', 'reclaimed'],
      meta: { region: 'start' },
      on: {
        'pod.update': { actions: 'recordDesiredPod' },
        'pod.deadlineExceeded': {},
        'pod.terminate': { guard: 'isPhaseAlreadyTerminal' },
      },
    },
    preparing,
    sandboxing,
    active,
    resetting,
    terminating,
    finished: {
      description: 'The pod has completed and is still wanted. Its dead containers remain for their logs and statuses.',
      tags: ['done', 'ended', 'reclaimed'],
      meta: { rules: ['C2'], region: 'end' },
      entry: { type: 'reportProgress', params: 'pod.cleanedUp' },
      always: { guard: 'hasLateSandbox', target: 'terminating.stoppingSandbox' },
      on: {
        'pod.update': { actions: 'recordDesiredPod' },
        'admission.admitted': {
          meta: { coverageGap: { reason: 'admission responds before anything else happens; tested on its machine' } },
        },
        'pod.deadlineExceeded': { meta: { coverageGap: NO_STALE_DEADLINE } },
        'pod.terminate': { guard: 'isPhaseAlreadyTerminal' },
      },
    },
    terminated: {
      description: 'Nothing of the pod is left on the node.',
      tags: ['done', 'ended', 'reclaimed', 'terminated'],
      type: 'final',
      meta: { region: 'end' },
      entry: [{ type: 'reportProgress', params: 'pod.cleanedUp' }, 'releaseAdmission', 'releaseAllSlots'],
      output: 'gone',
    },
    broken: {
      description:
        'An internal error has occurred. The pod is rebuilt at the next tick, and running processes are left alone.',
      tags: 'broken',
      meta: { region: 'end' },
      type: 'final',
      entry: ['releaseAllSlots', 'stopActorsOfBrokenPod'],
      output: 'broken',
    },
  },
  output: ({ event }) => ({ isGone: event.output === 'gone' }),
});
