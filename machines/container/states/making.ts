/** Creates and starts a container while it holds a start slot. A part of the chart in chart.ts. */
import { assign } from 'xstate';
import type { Failure } from '../../../base/failure.ts';
import type { ObservedContainer } from '../../../kubernetes/lifecycle/observed.ts';
import { namespacedName } from '../../../kubernetes/shownName.ts';
import { parent, pathOf, served } from '../../shared/actorRefs.ts';
import type { PodEvent } from '../../shared/events.ts';
import { failureOf, retryAfter } from '../../shared/failure.ts';
import type { PortTypes } from '../../shared/ports.ts';
import { RARE } from '../../shared/unreached.ts';
import { identityOf, knownContainer, sizeOf, slotKey } from '../context.ts';
import { underId } from '../otherId.ts';
import {
  launchFailed,
  recordCreationEvent,
  recordStartEvent,
  recordStopEvent,
  recordUnknownStateEvent,
} from '../recordedEvents.ts';
import { type ContainerArgs, containerSetup } from '../setup.ts';
import { failedStart, terminatedRun } from '../terminatedRun.ts';
import { refusedStart } from '../waitingReason.ts';

/** Fields that are known once the container has started. Its ID may have changed by then. */
const startedFields = ({ id, createdAt, startedAt, made }: ObservedContainer) => ({ id, createdAt, startedAt, made });

/** Returns the failure if the runtime refused the start and reports the container as exited. */
const refusalOf = ({ refusal, finishedAt, createdAt }: PortTypes['startContainer']['output']): Failure | undefined =>
  refusal && { reason: 'RunContainerError', message: refusal.message, at: finishedAt ?? createdAt };

const guards = {
  isRefused: (_: ContainerArgs, started: PortTypes['startContainer']['output']) => started.refusal !== undefined,
  isStartRefused: ({ event }: ContainerArgs) => failureOf(event).reason === 'RunContainerError',
  isStillCreated: ({ event }: ContainerArgs) => failureOf(event).reason === 'RuntimeError',
  isGoneBeforeStart: ({ event }: ContainerArgs) => failureOf(event).reason === 'NotFound',
};

const actions = {
  requestSlot: containerSetup.sendTo(served('startLimiter'), ({ context, self }) => ({
    type: 'slot.request',
    key: slotKey(context, 'start'),
    ticket: context.ticket,
    holder: pathOf(self),
    origin: context.pod.metadata.uid,
    purpose: `the start of container ${context.name} of ${namespacedName(context.pod)}`,
  })),
  releaseSlot: containerSetup.sendTo(served('startLimiter'), ({ context }) => ({
    type: 'slot.release',
    key: slotKey(context, 'start'),
  })),
  recordIdentity: containerSetup.assign(({ context }) => ({
    createdIdentity: identityOf(context),
    size: sizeOf(context),
  })),
  /** Tells the pod to verify its sandbox, which may be gone before any list shows it. */
  reportNotFound: containerSetup.enqueueActions(({ event, enqueue }) => {
    if (failureOf(event).reason === 'NotFound') enqueue.sendTo(parent<PodEvent>(), { type: 'container.notFound' });
  }),
  recordFailedStart: containerSetup.assign(({ context, event }) => {
    const failure = failureOf(event);
    return { failure, run: failedStart(context.id, failure), waitingReason: refusedStart(failure) };
  }),
  recordNotStarted: containerSetup.assign(({ event }) => {
    const failure = failureOf(event);
    return { ...retryAfter(failure), waitingReason: refusedStart(failure) };
  }),
};

export const makingImplementations = { guards, actions };

/** The call in flight is not aborted, because the created container must be known in order to be removed. */
const afterTheCall = {
  'container.stop': { actions: 'stopForGood' },
  'container.reset': { actions: 'requireReset' },
  'container.update': { actions: 'update' },
} as const;

export const making = containerSetup.extend(makingImplementations).createStateConfig({
  description: 'The container is created and started while it holds one of the start slots of the node.',
  tags: 'making',
  entry: [{ type: 'report', params: { lifecycle: 'launching' } }, 'requestSlot'],
  exit: 'releaseSlot',
  initial: 'queued',
  states: {
    queued: {
      description: 'All start slots of the node are taken. The container waits for one of them.',
      tags: 'waiting',
      meta: { waitsFor: 'a start slot', layout: { isOnMainPath: true } },
      // A start whose response was lost is requested again, because it may have succeeded.
      on: { 'slot.granted': [{ guard: 'wasNeverCreated', target: 'creating' }, { target: 'starting' }] },
    },
    creating: {
      description: 'The runtime creates the container.',
      tags: 'working',
      meta: { waitsFor: 'the runtime to create it', layout: { isOnMainPath: true } },
      entry: 'recordIdentity',
      on: afterTheCall,
      invoke: {
        src: 'createContainer',
        input: ({ context }) => ({
          pod: context.pod,
          container: context.name,
          // The state is entered only with a sandbox (`mayLaunch`), and left when the sandbox is lost.
          sandbox: context.sandbox as NonNullable<typeof context.sandbox>,
          attempt: context.attempt,
          imageRef: context.imageRef ?? '',
          volumes: context.volumes,
        }),
        onDone: [
          // The container never ran and is removed together with its sandbox.
          { guard: 'mustStay', target: '#container.stopped' },
          {
            guard: 'mustReset',
            target: '#container.stopping',
            actions: assign(({ event }) => ({ id: event.output.id, createdAt: undefined })),
          },
          {
            target: 'starting',
            actions: [assign(({ event }) => ({ id: event.output.id, createdAt: undefined })), recordCreationEvent],
          },
        ],
        onError: [
          { guard: 'mustStay', target: '#container.stopped' },
          { guard: 'mustReset', target: '#container.pending.reset' },
          {
            target: '#container.launching.awaitingRetry',
            actions: [
              'recordFailedCreate',
              { type: 'recordEvent', params: ({ event }) => launchFailed(failureOf(event)) },
              'reportNotFound',
            ],
          },
        ],
      },
    },
    starting: {
      description: 'The runtime starts the process of the container.',
      tags: 'working',
      meta: { waitsFor: 'the runtime to start it', layout: { isOnMainPath: true } },
      // A start without a response may have succeeded. The container then runs with this size even if its pod has been
      // resized since.
      entry: 'reportSize',
      invoke: {
        src: 'startContainer',
        input: ({ context }) => knownContainer(context),
        onDone: [
          // Image, user and times are those that the runtime reports, as for any other exit.
          {
            guard: { type: 'isRefused', params: ({ event }) => event.output },
            target: '#container.ended',
            actions: [
              assign(({ event: { output } }) => {
                const failure = refusalOf(output);
                const waitingReason = failure && refusedStart(failure);
                return { ...startedFields(output), run: terminatedRun(output), failure, waitingReason };
              }),
              {
                type: 'recordEvent',
                params: ({ event: { output } }) => {
                  const failure = refusalOf(output);
                  return failure ? launchFailed(failure) : [];
                },
              },
            ],
          },
          {
            guard: 'wasExitObserved',
            target: '#container.ended',
            actions: [
              assign(({ context, event: { output } }) => ({
                ...startedFields(output),
                ...underId(context, output.id),
                startedAt: context.startedAt,
              })),
              'forgetFailure',
              recordStartEvent,
            ],
          },
          {
            guard: { type: 'isOver', params: ({ event }) => event.output },
            target: '#container.ended',
            actions: [
              assign(({ event: { output } }) => ({ ...startedFields(output), run: terminatedRun(output) })),
              'forgetFailure',
              recordStartEvent,
            ],
          },
          // A container in an unknown state must not run beside its successor.
          {
            guard: { type: 'isUnknown', params: ({ event }) => event.output },
            target: '#container.stopping',
            actions: [
              assign(({ event: { output } }) => ({ ...startedFields(output), wasUnknown: true })),
              'forgetFailure' as const,
              recordUnknownStateEvent,
            ],
          },
          {
            guard: 'mustStay',
            target: '#container.stopping',
            actions: [assign(({ event: { output } }) => startedFields(output)), recordStartEvent, recordStopEvent],
          },
          // The whole pod restarts in place and waits for this container (C5).
          {
            guard: 'mustReset',
            target: '#container.stopping',
            actions: [assign(({ event: { output } }) => startedFields(output)), 'forgetFailure', recordStartEvent],
          },
          {
            target: '#container.launching.started',
            actions: [
              assign(({ event: { output } }) => ({ ...startedFields(output), failure: undefined })),
              recordStartEvent,
            ],
          },
        ],
        onError: [
          {
            guard: 'wasExitObserved',
            target: '#container.ended',
            actions: 'forgetFailure',
          },
          { guard: 'mustStay', target: '#container.stopping', actions: recordStopEvent },
          {
            guard: 'isStartRefused',
            target: '#container.ended',
            actions: [
              'recordFailedStart',
              { type: 'recordEvent', params: ({ event }) => launchFailed(failureOf(event)) },
            ],
          },
          // The container may be running, and must not run beside the one that the pod restarts with.
          { guard: 'mustReset', target: '#container.stopping' },
          // No run has terminated, so that no restart policy prevents another creation (C5).
          {
            guard: 'isGoneBeforeStart',
            target: '#container.launching.awaitingRetry',
            actions: [
              'recordNotStarted',
              { type: 'recordEvent', params: ({ event }) => launchFailed(failureOf(event)) },
              'forgetContainer',
              'reportNotFound',
            ],
          },
          // No run has terminated, and the container still exists, so that the same attempt is launched again.
          {
            guard: 'isStillCreated',
            target: '#container.launching.awaitingRetry',
            actions: [
              'recordNotStarted',
              { type: 'recordEvent', params: ({ event }) => launchFailed(failureOf(event)) },
            ],
          },
          // The container may be running. The same attempt is launched again and finds it.
          { target: '#container.launching.awaitingRetry', actions: 'recordCallFailure' },
        ],
      },
      // The exit of a short-lived container can be observed before the start call returns.
      on: {
        ...afterTheCall,
        'container.update': { actions: 'update', meta: { unreached: RARE } },
        'runtime.containerObserved': { guard: 'showsExit', actions: 'recordEnd' },
      },
    },
  },
});
