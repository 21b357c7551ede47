/** Defines types, ports, guards and actions that several regions of the pod's chart share. */
import { assertEvent, assign, enqueueActions, sendTo, setup } from 'xstate';
import { isJsonEqual } from '../../base/values/isJsonEqual.ts';
import { containersOf } from '../../kubernetes/api/pods/containers.ts';
import { fullName } from '../../kubernetes/api/pods/staticPod.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { mayHaveClaims } from '../../kubernetes/claims/podClaims.ts';
import {
  type EventMessages,
  involvedPod,
  type RecordedEvent,
  recordedEvent,
  recordedEvents,
} from '../../kubernetes/events/recordedEvent.ts';
import type { ObservedSandbox } from '../../kubernetes/lifecycle/observed.ts';
import type { Allocation } from '../../kubernetes/resources/allocation.ts';
import type { ContainerSize } from '../../kubernetes/resources/containerSize.ts';
import { type PodResourceRequests, requestsOf } from '../../kubernetes/resources/requests.ts';
import {
  changedRequests,
  hasSameResources,
  resizeMessage,
  resizeRefusal,
  resourcesOf,
} from '../../kubernetes/resources/resize.ts';
import { containerMachine } from '../container/chart.ts';
import type { AdmissionEvent, ContainerEvent, ContainerLifecycle, PodEvent } from '../shared/events/events.ts';
import type { TerminationReport } from '../shared/events/evictionEvents.ts';
import type { MachineDecision } from '../shared/events/machineDecision.ts';
import type { ActorPath } from '../shared/events/slots.ts';
import { port, timerPort } from '../shared/ports.ts';
import type { StateMeta, StateTag } from '../shared/stateMeta.ts';
import { actorPath, parent, sharedActor } from '../shared/views/actorRefs.ts';
import { failureOf, isRuntimeUnavailable, retryFields } from '../shared/waiting/failure.ts';
import { volumeMachine } from '../volume/chart.ts';
import { activeDeadlineMachine } from './activeDeadline.ts';
import { withLifecycles } from './containers/census.ts';
import { sendCommands } from './containers/commands.ts';
import { paceMachine } from './containers/pace.ts';
import { containersToReset } from './containers/restartedAll.ts';
import { hasRegularContainer, isComplete, resetInits } from './containers/startOrder.ts';
import {
  type Command,
  knownRuns,
  mayRun,
  mountedVolumes,
  type PodContext,
  type PodInput,
  restartsWithLostRuns,
  vanishedContainers,
} from './context.ts';
import { persistedSizes, requestedVersion, withSizes } from './resizing.ts';
import {
  allSandboxIds,
  decideSandbox,
  isFinished,
  isSandboxStillUsable,
  nextSandboxAttempt,
  withObservedSandboxIds,
} from './sandbox.ts';
import { mergeTermination, remainsAfterTermination, withExceededDeadline } from './termination.ts';

export interface PodArgs {
  readonly context: PodContext;
  readonly event: PodEvent;
}

/** Actions for an admitted update in a pod whose volumes have actors. */
export const admittedUpdateActions = ['applyAdmittedUpdate', 'updateVolumes', 'spawnVolumes'] as const;

/** Returns a request for admission of the pod's current version. */
export const admissionRequest = (context: PodContext, holder: ActorPath): AdmissionEvent => ({
  type: 'admission.request',
  uid: context.requestedPod.metadata.uid,
  fullName: fullName(context.requestedPod),
  pod: context.requestedPod,
  requests: requestsOf(context.requestedPod),
  ...(context.allocation ? { allocated: persistedRequests(context.allocation, context.allocated) } : {}),
  isAdopted: context.observed.sandboxes.length > 0 && isJsonEqual(context.requestedPod.spec, context.allocated.spec),
  isRunning: context.observed.containers.some(({ state }) => state === 'running'),
  isResize: !hasSameResources(resourcesOf(context.requestedPod), resourcesOf(context.allocated)),
  changedRequests: changedRequests(context.allocated, context.requestedPod),
  isFinished: isFinished(context),
  holder,
});

/**
 * Returns the requests with which the pod was admitted before the agent restarted. They are recomputed from the
 * admitted resources, because the kubelet does not persist the totals.
 */
const persistedRequests = (allocation: Allocation, allocated: Pod): PodResourceRequests =>
  allocation.resources === undefined ? allocation : requestsOf(allocated);

/** Tags of the pod's states. */
export type PodTag =
  | StateTag
  /** Another agent runs the pod. */
  | 'ofOthers'
  /** The restart counts from before the start of this agent are being determined. */
  | 'countingRestarts'
  /** Prerequisites of the containers are still missing or unknown. */
  | 'settingUp'
  | 'admitting'
  | 'preparing'
  /** The containers have no actors yet, although nothing has failed. */
  | 'withoutContainers'
  | 'active'
  | 'inGrace'
  /** The pod is not running and will never run again. */
  | 'ended'
  /** The pod's volumes and cgroup have also been removed. */
  | 'reclaimed'
  /** Everything that belongs to the pod, except its actors, has been removed. */
  | 'stoppingActors'
  | 'terminated';

export const podSetup = setup({
  types: {
    input: {} as PodInput,
    context: {} as PodContext,
    events: {} as PodEvent,
    emitted: {} as RecordedEvent | MachineDecision,
    output: {} as { isGone: boolean },
    meta: {} as StateMeta,
    tags: {} as PodTag,
    children: {} as { [id: `container/${string}`]: 'container' } & { [id: `volume/${string}`]: 'volume' } & {
      activeDeadline: 'activeDeadline';
      killLimit: 'activeDeadline';
      pace: 'pace';
    },
  },
  actors: {
    activeDeadline: activeDeadlineMachine,
    container: containerMachine,
    pace: paceMachine,
    volume: volumeMachine,
    countRestarts: port('countRestarts'),
    preparePod: port('preparePod'),
    prepareCgroup: port('prepareCgroup'),
    resizePod: port('resizePod'),
    removeCgroup: port('removeCgroup'),
    removePodData: port('removePodData'),
    prepareClaims: port('prepareClaims'),
    unprepareClaims: port('unprepareClaims'),
    runSandbox: port('runSandbox'),
    inspectSandbox: port('inspectSandbox'),
    stopSandboxes: port('stopSandboxes'),
    removeSandboxes: port('removeSandboxes'),
    restartRuntime: port('restartRuntime'),
    pickTime: port('pickTime'),
    timer: timerPort(),
  },
  guards: {
    mustTerminate: ({ context }) => context.termination !== undefined,
    isCurrentDeadline: ({ context, event }) => {
      assertEvent(event, 'pod.deadlineExceeded');
      return event.deadline === context.activeDeadline;
    },
    isCurrentKillLimit: ({ context, event }) => {
      assertEvent(event, 'pod.killLimitExceeded');
      return event.deadline === context.killDeadline;
    },
    mayHaveClaims: ({ context }) => mayHaveClaims(context.allocated),
    needsNoSandbox: ({ context }) => decideSandbox(context) === 'none',
    isComplete: ({ context }) => isComplete(context),
    changesNetworkMode: ({ context: { allocated }, event }) => {
      assertEvent(event, 'admission.admitted');
      return (event.pod.spec.hostNetwork === true) !== (allocated.spec.hostNetwork === true);
    },
    isSandboxStillUsable: ({ context }, sandbox: ObservedSandbox | null) =>
      sandbox !== null && isSandboxStillUsable(context, sandbox),
    wasRuntimeUnavailable: ({ context }) => isRuntimeUnavailable(context.failure),
  },
  actions: {
    recordEvent: enqueueActions(({ context, enqueue }, messages: EventMessages) => {
      for (const event of recordedEvents(involvedPod(context.allocated), messages)) enqueue.emit(event);
    }),
    requestAdmission: sendTo(sharedActor('admission'), ({ context, self }) =>
      admissionRequest(context, actorPath(self)),
    ),
    recordDesiredPod: assign(({ context, event }) => {
      assertEvent(event, 'pod.update');
      return requestedVersion(context, event.pod);
    }),
    /** Records changed metadata. Other components read the metadata, but no decision depends on it. */
    recordMetadata: assign(({ context, event }) => {
      assertEvent(event, 'pod.metadataChanged');
      const { metadata } = event;
      const { desired, requestedPod, allocated } = context;
      return {
        desired: { ...desired, metadata },
        requestedPod: { ...requestedPod, metadata },
        allocated: { ...allocated, metadata },
      };
    }),
    recordTermination: assign(({ context, event }) => {
      assertEvent(event, 'pod.terminate');
      return { termination: mergeTermination(context.termination, event.termination) };
    }),
    recordExceededDeadline: assign(({ context, event }) => {
      assertEvent(event, 'pod.deadlineExceeded');
      return { termination: withExceededDeadline(context, event.at) };
    }),
    recordFailure: assign(({ event }) => retryFields(failureOf(event))),
    /** Reports the progress of a termination that the node awaits. */
    reportProgress: enqueueActions(
      ({ context: { allocated, termination }, enqueue }, type: TerminationReport['type']) => {
        if (termination?.isAwaited !== true) return;
        enqueue.sendTo(parent<TerminationReport>(), { type, uid: allocated.metadata.uid });
      },
    ),
    recordPodCompletion: assign(({ context }) => ({
      termination: {
        reason: 'Completed' as const,
        graceSeconds: context.allocated.spec.terminationGracePeriodSeconds ?? 30,
        // Containers may have terminated before this agent started, in which case the pod completes now.
        at: Math.max(context.endedAt, context.spawnedAt),
      },
    })),
    discardSandbox: assign(({ context }) => ({
      sandbox: undefined,
      attempt: nextSandboxAttempt(context),
      stale: allSandboxIds(context),
      turnsTaken: [],
      launchRound: [],
      isRestartingAll: undefined,
      isInitialized: false,
      containers: resetInits(context),
    })),
    /** Marks the pod as initialized if any regular container has run. Called once no more containers will start. */
    recordPastInitialization: assign(({ context }) => ({ isInitialized: hasRegularContainer(context) })),
    /**
     * Sends the current pod to each volume. A failed volume is retried with its new definition, and a volume that
     * exposes pod fields is updated.
     */
    updateVolumes: enqueueActions(({ context, enqueue }) => {
      const names = Object.keys(context.volumes);
      sendCommands(enqueue, context, [
        { to: 'volumes', names, event: { type: 'volume.update', pod: context.allocated } },
      ]);
    }),
    /**
     * Spawns an actor for each volume in the spec that has none. The actor mounts the volume or, if the pod has
     * terminated, unmounts it.
     */
    spawnVolumes: enqueueActions(({ context, enqueue }) => {
      const { allocated: pod, arrivalOrder, termination } = context;
      // No actors are needed to remove a pod, because the removal finds volumes from earlier runs of the agent on disk.
      if (termination !== undefined && !remainsAfterTermination(termination)) return;
      const isInUse = containersOf(pod.spec).some(({ container }) => knownRuns(context, container.name).length > 0);
      const names = (pod.spec.volumes ?? []).map(({ name }) => name);
      const missingNames = names.filter((name) => !Object.hasOwn(context.volumes, name));
      const pendingVolumes = missingNames.map((name) => [name, { lifecycle: 'pending' as const }]);
      enqueue.assign({ volumes: { ...context.volumes, ...Object.fromEntries(pendingVolumes) } });
      const event = {
        type: 'spawn' as const,
        pod,
        arrivalOrder,
        isLeftover: termination !== undefined,
        isInUse,
      };
      sendCommands(enqueue, context, [{ to: 'volumes', names: missingNames, event }]);
    }),
    /** Spawns an actor for each container in the spec that has none. */
    spawnContainers: enqueueActions(({ context, enqueue }) => {
      const { allocated, restarts, termination } = context;
      const missingNames = containersOf(allocated.spec)
        .map(({ container }) => container.name)
        .filter((name) => !Object.hasOwn(context.containers, name));
      const persistedSize = persistedSizes(context);
      const lifecycles = new Map<string, ContainerLifecycle>();
      const sizes: [string, ContainerSize][] = [];
      for (const name of missingNames) {
        const observedRuns = knownRuns(context, name);
        const size = observedRuns.length > 0 ? persistedSize(name) : undefined;
        lifecycles.set(name, observedRuns[0] && mayRun(observedRuns[0]) ? 'live' : 'pending');
        if (size) sizes.push([name, size]);
      }
      enqueue.assign(({ context: currentContext }) => ({
        containers: withLifecycles(currentContext, lifecycles),
        sizes: withSizes(currentContext, sizes),
      }));
      const namesToReset = containersToReset(context).filter((name) => lifecycles.has(name));
      sendCommands(enqueue, context, [
        { names: missingNames, event: { type: 'spawn', pod: allocated, restarts } },
        { names: namesToReset, event: { type: 'container.reset' } },
      ]);
      // Retain the restart counts of a terminating pod, because its last status is computed without the actors of its
      // containers.
      if (restarts && termination === undefined) enqueue.assign({ restarts: undefined });
    }),
    announceSandbox: enqueueActions(({ context, enqueue }) => {
      if (context.sandbox === undefined) return;
      const event: ContainerEvent = { type: 'sandbox.ready', sandbox: context.sandbox };
      sendCommands(enqueue, context, [{ names: Object.keys(context.containers), event }]);
    }),
    /**
     * Notifies the containers that their sandbox is lost, so that they stop. Hooks and grace periods apply only if an
     * inspection has shown that the sandbox is still ready.
     */
    revokeSandbox: enqueueActions(({ context, enqueue }, sandbox: ObservedSandbox | null) => {
      const revocation = sandbox?.state === 'ready' ? { readySandbox: sandbox } : {};
      const event: ContainerEvent = { type: 'sandbox.lost', ...revocation };
      sendCommands(enqueue, context, [{ names: Object.keys(context.containers), event }]);
    }),
    /**
     * Distributes a full list of the pod's objects to the container actors. If a known container is missing from the
     * list, its actor is notified that the container is absent.
     */
    recordObservedPod: enqueueActions(({ context, event, enqueue }) => {
      assertEvent(event, 'runtime.podObserved');
      const idChanges = withObservedSandboxIds(context, event.pod);
      enqueue.assign({ observed: event.pod, restarts: restartsWithLostRuns(context, event.pod), ...idChanges });
      const commands: Command[] = [];
      if (idChanges.sandbox && idChanges.sandbox.id !== context.sandbox?.id) {
        const sandboxReadyEvent: ContainerEvent = { type: 'sandbox.ready', sandbox: idChanges.sandbox };
        commands.push({ names: Object.keys(context.containers), event: sandboxReadyEvent });
      }
      const presentContainers = event.pod.containers.map((container) => ({
        name: container.name,
        id: container.id,
        container,
      }));
      const missingContainers = vanishedContainers(context, event.pod).map(({ name, id }) => ({
        name,
        id,
        container: null,
      }));
      for (const { name, id, container } of [...presentContainers, ...missingContainers]) {
        if (!Object.hasOwn(context.containers, name)) continue;
        commands.push({ names: [name], event: { type: 'runtime.containerObserved', id, container } });
      }
      sendCommands(enqueue, context, commands);
    }),
    forwardRuntimeReturn: enqueueActions(({ context, enqueue }) => {
      const names = Object.keys(context.containers);
      sendCommands(enqueue, context, [
        { names, event: { type: 'runtime.returned' } },
        { to: 'volumes', names: Object.keys(context.volumes), event: { type: 'runtime.returned' } },
      ]);
    }),
    /**
     * Applies an admitted update. Stops the containers that the spec no longer contains, and sends the update to the
     * remaining ones. Uses the latest metadata, which may have changed since the request, because metadata needs no
     * admission.
     */
    applyAdmittedUpdate: enqueueActions(({ context, event, enqueue }) => {
      assertEvent(event, 'admission.admitted');
      const { requestedPod, allocated, desired, limitedSwap } = context;
      const { metadata } = requestedPod;
      const pod = event.pod.metadata === metadata ? event.pod : { ...event.pod, metadata };
      const desiredNames = new Set(containersOf(pod.spec).map(({ container }) => container.name));
      const updateRefusal = resizeRefusal(pod, desired, limitedSwap);
      enqueue.assign({ allocated: pod, updateRefusal });
      if (updateRefusal === undefined && hasSameResources(resourcesOf(pod), resourcesOf(desired))) {
        enqueue.assign({ pendingResize: undefined });
      }
      if (!hasSameResources(resourcesOf(pod), resourcesOf(allocated))) {
        enqueue.assign({ resize: { generation: event.pod.metadata.generation } });
        const message = resizeMessage('Pod resize started', event.pod);
        enqueue.emit(recordedEvent(involvedPod(pod), { reason: 'ResizeStarted', message }));
      }
      const updateEvent: ContainerEvent = { type: 'container.update', pod, volumes: mountedVolumes(context) };
      const stopEvent: ContainerEvent = { type: 'container.stop', removesContainer: true };
      const commands = Object.keys(context.containers).map((name) => ({
        names: [name],
        event: desiredNames.has(name) ? updateEvent : stopEvent,
      }));
      sendCommands(enqueue, context, commands);
    }),
  },
});
