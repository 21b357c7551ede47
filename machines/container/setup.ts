/** Defines types, ports, guards and actions that several regions of the container's chart share. */

import { assertEvent, assign, enqueueActions, sendTo, setup } from 'xstate';
import { referencedObjects } from '../../kubernetes/environment/configValues.ts';
import {
  type EventMessages,
  involvedPod,
  type RecordedEvent,
  recordedEvents,
} from '../../kubernetes/events/recordedEvent.ts';
import type { ObservedContainer } from '../../kubernetes/lifecycle/observed.ts';
import { imageMachine } from '../image/chart.ts';
import { probeMachine } from '../probe/chart.ts';
import type { ContainerEvent, ContainerLifecycle, PodEvent } from '../shared/events/events.ts';
import { port, timerPort } from '../shared/ports.ts';
import { hasEnded, type StateMeta, type StateTag } from '../shared/stateMeta.ts';
import { parent } from '../shared/views/actorRefs.ts';
import { failureOf, isRuntimeUnavailable, retryFields } from '../shared/waiting/failure.ts';
import { backOffKey, type ContainerContext, type ContainerInput, identityOf, specOf, stopFields } from './context.ts';
import { isPresent, withObservedIds } from './otherId.ts';
import { terminatedRun, unknownExitRun } from './terminatedRun.ts';
import { createFailedReason } from './waitingReason.ts';

export interface ContainerArgs {
  readonly context: ContainerContext;
  readonly event: ContainerEvent;
}

/** Returns the container in the runtime's response, which guards and actions receive as their parameter. */
export const queriedContainer = ({
  event,
}: {
  readonly event: { readonly output: ObservedContainer | null };
}): ObservedContainer | null => event.output;

/** Variant of `assign` for actions that receive the container in the runtime's response as their parameter. */
export const assignQueried = assign<ContainerContext, ContainerEvent, ObservedContainer | null, ContainerEvent, never>;

/** Tags of the container's states. */
export type ContainerTag =
  | StateTag
  /** The runtime is being queried about the container. */
  | 'unknown'
  /** The container's state in the runtime is not known yet, possibly because the query failed. */
  | 'unadopted'
  | 'awaitingVolumes'
  | 'gettingImage'
  | 'readyToCreate'
  /** The container is being created and started. */
  | 'creatingContainer'
  | 'runningPostStart'
  | 'running'
  | 'stopping'
  | 'runningPreStop'
  | 'killing'
  /** The grace period has expired. */
  | 'overdue'
  /** The container has terminated and will not restart on its own. */
  | 'rests';

export const containerSetup = setup({
  types: {
    input: {} as ContainerInput,
    context: {} as ContainerContext,
    events: {} as ContainerEvent,
    emitted: {} as RecordedEvent,
    meta: {} as StateMeta,
    tags: {} as ContainerTag,
    children: {} as { image: 'image'; [id: `probe/${string}`]: 'probe' },
  },
  actors: {
    probe: probeMachine,
    image: imageMachine,
    countRestarts: port('countRestarts'),
    prepareDevices: port('prepareDevices'),
    readObjects: port('readObjects'),
    createContainer: port('createContainer'),
    startContainer: port('startContainer'),
    stopContainer: port('stopContainer'),
    inspectContainer: port('inspectContainer'),
    removeContainers: port('removeContainers'),
    runHook: port('runHook'),
    timer: timerPort(),
  },
  guards: {
    wasNeverCreated: ({ context }) => context.id === undefined,
    changesIdentity: ({ context, event }) => {
      assertEvent(event, 'container.update');
      return identityOf({ ...context, pod: event.pod }) !== identityOf(context);
    },
    isObservedExited: ({ context, event }) => {
      assertEvent(event, 'runtime.containerObserved');
      return event.container !== null && isPresent(context, event.container) && hasEnded(event.container.state);
    },
    /**
     * Whether the container's exit was observed while a call about the container was still in flight. The exit is
     * handled regardless of the call's result.
     */
    wasExitObserved: ({ context }) => context.id !== undefined && context.run?.containerId === context.id,
    hasExited: (_, container: ObservedContainer | null) => container !== null && hasEnded(container.state),
    isStateUnknown: (_, container: ObservedContainer | null) => container?.state === 'unknown',
    isAbsent: (_, container: ObservedContainer | null) => container === null,
    wasRuntimeUnavailable: ({ context }) => isRuntimeUnavailable(context.failure),
    /** Whether the container's environment variables have to be read. They are needed only to create the container. */
    mustReadVariables: ({ context }) => context.id === undefined && referencedObjects(specOf(context)).length > 0,
    /**
     * Whether to wait for a change after a failed attempt, because the attempt would fail in the same way with the
     * current version of the pod.
     */
    needsChange: ({ context, event }) => failureOf(event).isPermanent === true && context.attemptedPod === context.pod,
    mustRestartWithPod: ({ context }) => context.exitReaction === 'restartWithPod',
    isStoppedForGood: ({ context }) => context.exitReaction === 'stop',
  },
  actions: {
    /** Records an event about the pod, for failures that are not specific to this container. */
    recordPodEvent: enqueueActions(({ context: { pod }, enqueue }, messages: EventMessages) => {
      for (const event of recordedEvents(involvedPod(pod), messages)) enqueue.emit(event);
    }),
    /**
     * Records an event about the container. The container's ID is replaced by its name in messages, because messages
     * that differ only in the ID would not be aggregated.
     */
    recordEvent: enqueueActions(({ context, enqueue }, messages: EventMessages) => {
      const { pod, id, name } = context;
      for (const event of recordedEvents(involvedPod(pod, context), messages)) {
        enqueue.emit(id ? { ...event, message: event.message.replaceAll(id, name) } : event);
      }
    }),
    reportLifecycle: sendTo(parent<PodEvent>(), ({ context }, params: { lifecycle: ContainerLifecycle }) => ({
      type: 'container.changed' as const,
      name: context.name,
      lifecycle: params.lifecycle,
      ...(context.id === undefined ? {} : { id: context.id }),
      ...(context.run?.finishedAt === undefined ? {} : { endedAt: context.run.finishedAt }),
    })),
    recordLostSandbox: assign(({ context, event }) => {
      assertEvent(event, 'sandbox.lost');
      const isFromEarlierSandbox = context.id === undefined ? undefined : true;
      return { sandbox: undefined, lostSandbox: event.readySandbox ?? null, hasTurn: false, isFromEarlierSandbox };
    }),
    recordTurn: assign({ hasTurn: true }),
    /**
     * Drops the ID of the container created for the current attempt, if any, so that the container is created again.
     */
    forgetContainer: assign({ id: undefined, createdIdentity: undefined }),
    reportSize: enqueueActions(({ context: { name, size }, enqueue }) => {
      if (size !== undefined) enqueue.sendTo(parent<PodEvent>(), { type: 'container.sized', name, size });
    }),
    recordUpdate: assign(({ context, event }) => {
      assertEvent(event, 'container.update');
      const hasKeyChanged = backOffKey({ ...context, pod: event.pod }) !== backOffKey(context);
      if (!hasKeyChanged) return { pod: event.pod, volumes: event.volumes };
      // A different image or different resources may fix the crash, so the back-off starts over (C7). As in a kubelet,
      // a start that follows a terminated run is recorded with a delay of 0 (`backOff.Next` in `doBackOff`).
      const crashDelayMs = context.id === undefined && context.earlierRun?.finishedAt !== undefined ? 0 : undefined;
      return { pod: event.pod, volumes: event.volumes, crashDelayMs };
    }),
    /** Revokes the container's turn to start, because the container has to start from scratch together with its pod. */
    requireReset: assign(({ context }) =>
      context.exitReaction === 'stop' ? {} : { exitReaction: 'restartWithPod' as const, hasTurn: false },
    ),
    requireRecreation: assign({ exitReaction: 'recreate' }),
    stopForGood: assign(({ context, event }) => {
      assertEvent(event, 'container.stop');
      return stopFields(context, event);
    }),
    recordObservedExit: assign(({ event }) => {
      assertEvent(event, 'runtime.containerObserved');
      return event.container !== null
        ? { id: event.id, run: terminatedRun(event.container), stopBy: undefined, stopGraceSeconds: undefined }
        : {};
    }),
    adoptNewId: assign(({ context, event }) => {
      assertEvent(event, 'runtime.containerObserved');
      return event.container !== null ? withObservedIds(context, event.container) : {};
    }),
    stopProbes: enqueueActions(({ enqueue }) => {
      for (const kind of ['startup', 'liveness', 'readiness'] as const) enqueue.stopChild(`probe/${kind}`);
    }),
    recordUnknownExit: assign(({ context }) => ({
      run: unknownExitRun(context.id ?? '', context.startedAt),
      stopBy: undefined,
      stopGraceSeconds: undefined,
    })),
    /** Clears the failure, because the container has started. */
    clearStartFailure: assign({ failure: undefined, waitingReason: undefined }),
    recordCreateFailure: assign(({ context, event }) => {
      const failure = failureOf(event);
      return { ...retryFields(failure), waitingReason: createFailedReason(context, failure) };
    }),
    /**
     * Records that the container's state in the runtime is unknown, so that the container is reported as waiting while
     * it is stopped.
     */
    recordUnknownState: assign({ wasStateUnknown: true }),
    recordAttemptedPod: assign(({ context }) => ({ attemptedPod: context.pod })),
    recordCallFailure: assign(({ event }) => retryFields(failureOf(event))),
  },
});
