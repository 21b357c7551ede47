/** Creates and starts a container while it holds a start slot. Part of the chart in chart.ts. */
import { and, assign, not } from 'xstate';
import type { Failure } from '../../../base/failure.ts';
import type { EventMessages } from '../../../kubernetes/events/recordedEvent.ts';
import type { ObservedContainer } from '../../../kubernetes/lifecycle/observed.ts';
import { namespacedName } from '../../../kubernetes/shownName.ts';
import { NO_LARGE_VARIABLES, RARELY_TAKEN } from '../../shared/coverageGaps.ts';
import type { ContainerEvent, PodEvent } from '../../shared/events/events.ts';
import type { PortTypes } from '../../shared/ports.ts';
import { actorPath, parent, sharedActor } from '../../shared/views/actorRefs.ts';
import { failureOf, retryFields } from '../../shared/waiting/failure.ts';
import { type ContainerContext, identityOf, knownContainer, sizeOf, slotKey } from '../context.ts';
import { withNewId } from '../otherId.ts';
import {
  launchFailedEvents,
  recordCreationEvent,
  recordLaunchFailedEvent,
  recordStartEvent,
  recordStopEvent,
  recordUnknownStateEvent,
} from '../recordedEvents.ts';
import { type ContainerArgs, containerSetup } from '../setup.ts';
import { failedStartRun, terminatedRun } from '../terminatedRun.ts';
import { refusedStartReason } from '../waitingReason.ts';

type StartResult = PortTypes['startContainer']['output'];

/** Returns the result of the start call, which guards and actions receive as their parameter. */
const startResult = ({ event }: { readonly event: { readonly output: StartResult } }): StartResult => event.output;

/** Returns the fields that are known once the container has started. The container's ID may have changed by then. */
const startedFields = ({ id, createdAt, startedAt, createdContainer }: ObservedContainer) => ({
  id,
  createdAt,
  startedAt,
  createdContainer,
});

/** Returns the failure of a start that the runtime refused, in which case the container has exited. */
const startRefusal = ({ refusal, finishedAt, createdAt }: StartResult): Failure | undefined =>
  refusal && { reason: 'RunContainerError', message: refusal.message, at: finishedAt ?? createdAt };

const refusalEvents = (result: StartResult): EventMessages => {
  const failure = startRefusal(result);
  return failure ? launchFailedEvents(failure) : [];
};

const guards = {
  /** Whether the runtime refused the start, in which case it reports the container as exited. */
  hasStartRefusal: (_: ContainerArgs, result: StartResult) => result.refusal !== undefined,
  isStartRefused: ({ event }: ContainerArgs) => failureOf(event).reason === 'RunContainerError',
  isStillUnstarted: ({ event }: ContainerArgs) => failureOf(event).reason === 'RuntimeError',
  wasContainerNotFound: ({ event }: ContainerArgs) => failureOf(event).reason === 'NotFound',
};

/** Variant of `assign` for actions that receive the result of the start call as their parameter. */
const assignResult = assign<ContainerContext, ContainerEvent, StartResult, ContainerEvent, never>;

const actions = {
  requestSlot: containerSetup.sendTo(sharedActor('startLimiter'), ({ context, self }) => ({
    type: 'slot.request',
    key: slotKey(context, 'start'),
    arrivalOrder: context.arrivalOrder,
    holder: actorPath(self),
    origin: context.pod.metadata.uid,
    purpose: `the start of container ${context.name} of ${namespacedName(context.pod)}`,
  })),
  releaseSlot: containerSetup.sendTo(sharedActor('startLimiter'), ({ context }) => ({
    type: 'slot.release',
    key: slotKey(context, 'start'),
  })),
  recordIdentity: containerSetup.assign(({ context }) => ({
    createdIdentity: identityOf(context),
    size: sizeOf(context),
  })),
  /**
   * Notifies the pod that the runtime did not find an object. The pod then verifies its sandbox, which may have
   * disappeared since the runtime's sandboxes were last listed.
   */
  reportNotFound: containerSetup.enqueueActions(({ event, enqueue }) => {
    if (failureOf(event).reason === 'NotFound') enqueue.sendTo(parent<PodEvent>(), { type: 'container.notFound' });
  }),
  recordStart: assignResult((_, result: StartResult) => startedFields(result)),
  /**
   * Records the start of a run whose exit was observed before the start call returned, possibly under a different ID.
   */
  recordStartOfExitedRun: assignResult(({ context }, result: StartResult) => ({
    ...startedFields(result),
    ...withNewId(context, result.id),
    startedAt: context.startedAt,
  })),
  recordExit: assignResult((_, result: StartResult) => ({ run: terminatedRun(result) })),
  /** Records a refused start. As for any other exit, the image, user and times are those that the runtime reports. */
  recordStartRefusal: assignResult((_, result: StartResult) => {
    const failure = startRefusal(result);
    return {
      ...startedFields(result),
      run: terminatedRun(result),
      failure,
      waitingReason: failure && refusedStartReason(failure),
    };
  }),
  clearFailure: containerSetup.assign({ failure: undefined }),
  recordFailedStart: containerSetup.assign(({ context, event }) => {
    const failure = failureOf(event);
    return { failure, run: failedStartRun(context.id, failure), waitingReason: refusedStartReason(failure) };
  }),
  recordNotStarted: containerSetup.assign(({ event }) => {
    const failure = failureOf(event);
    return { ...retryFields(failure), waitingReason: refusedStartReason(failure) };
  }),
};

export const creatingContainerImplementations = { guards, actions };

/**
 * Transitions while the call that creates or starts the container is in flight. They do not abort the call, because the
 * ID of the created container is needed in order to remove it.
 */
const callTransitions = {
  'container.stop': { actions: 'stopForGood' },
  'container.reset': { actions: 'requireReset' },
  'container.update': { actions: 'recordUpdate' },
} as const;

export const creatingContainer = containerSetup.extend(creatingContainerImplementations).createStateConfig({
  description: 'The container is created and started while it holds one of the start slots of the node.',
  tags: 'creatingContainer',
  entry: [{ type: 'reportLifecycle', params: { lifecycle: 'launching' } }, 'requestSlot'],
  exit: 'releaseSlot',
  initial: 'queued',
  states: {
    queued: {
      description: 'All start slots of the node are taken. The container waits for one of them.',
      tags: 'waiting',
      meta: { waitsFor: 'a start slot', layout: { isOnMainPath: true } },
      // An existing container only has to be started. If the response to its last start was lost, it may already be
      // running.
      on: { 'slot.granted': [{ guard: 'wasNeverCreated', target: 'creating' }, { target: 'starting' }] },
    },
    creating: {
      description: 'The runtime creates the container.',
      tags: 'working',
      meta: { waitsFor: 'the runtime to create it', layout: { isOnMainPath: true } },
      entry: ['recordIdentity', 'recordAttemptedPod'],
      on: callTransitions,
      invoke: {
        src: 'createContainer',
        input: ({ context }) => ({
          pod: context.pod,
          container: context.name,
          // Safe cast: the state is entered only with a sandbox (`mayLaunch`), and is left when the sandbox is lost.
          sandbox: context.sandbox as NonNullable<typeof context.sandbox>,
          attempt: context.attempt,
          imageRef: context.imageRef ?? '',
          volumes: context.volumes,
        }),
        onDone: [
          // The container never ran and is removed together with its sandbox.
          { guard: 'isStoppedForGood', target: '#container.stopped' },
          {
            guard: 'mustRestartWithPod',
            target: '#container.stopping',
            actions: assign(({ event }) => ({ id: event.output.id, createdAt: undefined })),
          },
          {
            target: 'starting',
            actions: [assign(({ event }) => ({ id: event.output.id, createdAt: undefined })), recordCreationEvent],
          },
        ],
        onError: [
          { guard: 'isStoppedForGood', target: '#container.stopped' },
          { guard: 'mustRestartWithPod', target: '#container.pending.resetting' },
          {
            // Wait for a change only if the container references no ConfigMaps or Secrets. Changes to them during the
            // call are not recorded, so a container that references any reads them again after a delay.
            guard: and([not('mustReadVariables'), 'needsChange']),
            target: '#container.launching.awaitingChange',
            meta: { coverageGap: NO_LARGE_VARIABLES },
            actions: ['recordCreateFailure', recordLaunchFailedEvent],
          },
          {
            target: '#container.launching.awaitingRetry',
            actions: ['recordCreateFailure', recordLaunchFailedEvent, 'reportNotFound'],
          },
        ],
      },
    },
    starting: {
      description: 'The runtime starts the process of the container.',
      tags: 'working',
      meta: { waitsFor: 'the runtime to start it', layout: { isOnMainPath: true } },
      // Report the resources before the start, because the container may run with them even if the response to the
      // start call is lost and its pod is resized later.
      entry: 'reportSize',
      invoke: {
        src: 'startContainer',
        input: ({ context }) => knownContainer(context),
        onDone: [
          {
            guard: { type: 'hasStartRefusal', params: startResult },
            target: '#container.ended',
            actions: [
              { type: 'recordStartRefusal', params: startResult },
              { type: 'recordEvent', params: ({ event }) => refusalEvents(event.output) },
            ],
          },
          {
            guard: 'wasExitObserved',
            target: '#container.ended',
            actions: [{ type: 'recordStartOfExitedRun', params: startResult }, 'clearStartFailure', recordStartEvent],
          },
          {
            guard: { type: 'hasExited', params: startResult },
            target: '#container.ended',
            actions: [
              { type: 'recordStart', params: startResult },
              { type: 'recordExit', params: startResult },
              'clearStartFailure',
              recordStartEvent,
            ],
          },
          // A container in an unknown state is stopped first, because it must not run alongside its successor.
          {
            guard: { type: 'isStateUnknown', params: startResult },
            target: '#container.stopping',
            actions: [
              { type: 'recordStart', params: startResult },
              'recordUnknownState',
              'clearStartFailure',
              recordUnknownStateEvent,
            ],
          },
          {
            guard: 'isStoppedForGood',
            target: '#container.stopping',
            actions: [{ type: 'recordStart', params: startResult }, recordStartEvent, recordStopEvent],
          },
          // The whole pod is restarting and waits for this container to stop (C5).
          {
            guard: 'mustRestartWithPod',
            target: '#container.stopping',
            actions: [{ type: 'recordStart', params: startResult }, 'clearStartFailure', recordStartEvent],
          },
          {
            target: '#container.launching.started',
            actions: [{ type: 'recordStart', params: startResult }, 'clearFailure', recordStartEvent],
          },
        ],
        onError: [
          {
            guard: 'wasExitObserved',
            target: '#container.ended',
            actions: 'clearStartFailure',
          },
          { guard: 'isStoppedForGood', target: '#container.stopping', actions: recordStopEvent },
          {
            guard: 'isStartRefused',
            target: '#container.ended',
            actions: ['recordFailedStart', recordLaunchFailedEvent],
            meta: { coverageGap: RARELY_TAKEN },
          },
          // The container may be running, and has to stop before its pod restarts.
          { guard: 'mustRestartWithPod', target: '#container.stopping' },
          // No run has terminated, so the restart policy does not prevent the container from being created again (C5).
          {
            guard: 'wasContainerNotFound',
            target: '#container.launching.awaitingRetry',
            actions: ['recordNotStarted', recordLaunchFailedEvent, 'forgetContainer', 'reportNotFound'],
          },
          // No run has terminated, and the container still exists, so it is launched again with the same attempt
          // number.
          {
            guard: 'isStillUnstarted',
            target: '#container.launching.awaitingRetry',
            actions: ['recordNotStarted', recordLaunchFailedEvent],
          },
          // The container may be running. Launching the same attempt again detects that.
          { target: '#container.launching.awaitingRetry', actions: 'recordCallFailure' },
        ],
      },
      // The exit of a short-lived container can be observed before the start call returns.
      on: {
        ...callTransitions,
        'container.update': { actions: 'recordUpdate', meta: { coverageGap: RARELY_TAKEN } },
        'runtime.containerObserved': { guard: 'isObservedExited', actions: 'recordObservedExit' },
      },
    },
  },
});
