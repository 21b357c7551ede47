/** A container is created and started, while it holds a start slot. A part of the chart in chart.ts. */
import { assign } from 'xstate';
import type { Failure } from '../../../base/failure.ts';
import type { ObservedContainer } from '../../../kubernetes/lifecycle/observed.ts';
import { namespacedName } from '../../../kubernetes/shownName.ts';
import { parent, pathOf, served } from '../../shared/actorRefs.ts';
import type { PodEvent } from '../../shared/events.ts';
import { failureOf, retryAfter } from '../../shared/failure.ts';
import type { PortTypes } from '../../shared/ports.ts';
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

/** What is known of a container by its start: also the id that it has by then. */
const whatStarted = ({ id, createdAt, startedAt, made }: ObservedContainer) => ({ id, createdAt, startedAt, made });

/** The failure of a start that the runtime has refused, about a container that it shows as exited. */
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
  recordIdentity: containerSetup.assign(({ context }) => ({ madeFrom: identityOf(context), size: sizeOf(context) })),
  /** Its pod asks about the sandbox, which no list may tell of yet. */
  tellNotFound: containerSetup.enqueueActions(({ event, enqueue }) => {
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

/** The call that is on its way is awaited: what it makes must be known to be removed. */
const afterTheCall = {
  'container.stop': { actions: 'stopForGood' },
  'container.reset': { actions: 'askForReset' },
  'container.update': { actions: 'update' },
} as const;

export const making = containerSetup.extend(makingImplementations).createStateConfig({
  tags: 'making',
  entry: [{ type: 'report', params: { lifecycle: 'launching' } }, 'requestSlot'],
  exit: 'releaseSlot',
  initial: 'queued',
  states: {
    queued: {
      tags: 'waiting',
      meta: { waitsFor: 'a start slot' },
      // A start without an answer is asked for again: it may have worked.
      on: { 'slot.granted': [{ guard: 'neverMade', target: 'creating' }, { target: 'starting' }] },
    },
    creating: {
      tags: 'working',
      meta: { waitsFor: 'the runtime to create it' },
      entry: 'recordIdentity',
      on: afterTheCall,
      invoke: {
        src: 'createContainer',
        input: ({ context }) => ({
          pod: context.pod,
          container: context.name,
          // The state is entered with a sandbox only (`mayLaunch`), and left when that is lost.
          sandbox: context.sandbox as NonNullable<typeof context.sandbox>,
          attempt: context.attempt,
          imageRef: context.imageRef ?? '',
          volumes: context.volumes,
        }),
        onDone: [
          // It never ran: it goes with its sandbox.
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
              'tellNotFound',
            ],
          },
        ],
      },
    },
    starting: {
      tags: 'working',
      meta: { waitsFor: 'the runtime to start it' },
      // A start without an answer may have worked: it runs with this size then, whatever its pod asks for by now.
      entry: 'reportSize',
      invoke: {
        src: 'startContainer',
        input: ({ context }) => knownContainer(context),
        onDone: [
          // The image, the user and the times are those that the runtime reports, as with any other end.
          {
            guard: { type: 'isRefused', params: ({ event }) => event.output },
            target: '#container.ended',
            actions: [
              assign(({ event: { output } }) => {
                const failure = refusalOf(output);
                const waitingReason = failure && refusedStart(failure);
                return { ...whatStarted(output), run: terminatedRun(output), failure, waitingReason };
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
            guard: 'hasSeenEnd',
            target: '#container.ended',
            actions: [
              assign(({ context, event: { output } }) => ({
                ...whatStarted(output),
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
              assign(({ event: { output } }) => ({ ...whatStarted(output), run: terminatedRun(output) })),
              'forgetFailure',
              recordStartEvent,
            ],
          },
          // Whatever it is, it must not run beside the next one.
          {
            guard: { type: 'isUnknown', params: ({ event }) => event.output },
            target: '#container.stopping',
            actions: [
              assign(({ event: { output } }) => ({ ...whatStarted(output), foundUnknown: true })),
              'forgetFailure' as const,
              recordUnknownStateEvent,
            ],
          },
          {
            guard: 'mustStay',
            target: '#container.stopping',
            actions: [assign(({ event: { output } }) => whatStarted(output)), recordStartEvent, recordStopEvent],
          },
          // Its whole pod restarts in place, and waits for it (C5).
          {
            guard: 'mustReset',
            target: '#container.stopping',
            actions: [assign(({ event: { output } }) => whatStarted(output)), 'forgetFailure', recordStartEvent],
          },
          {
            target: '#container.launching.started',
            actions: [
              assign(({ event: { output } }) => ({ ...whatStarted(output), failure: undefined })),
              recordStartEvent,
            ],
          },
        ],
        onError: [
          {
            guard: 'hasSeenEnd',
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
          // It may run all the same, and must not beside the one that its pod restarts with.
          { guard: 'mustReset', target: '#container.stopping' },
          // Nothing of it has ended, so that no policy keeps it from being made again (C5).
          {
            guard: 'isGoneBeforeStart',
            target: '#container.launching.awaitingRetry',
            actions: [
              'recordNotStarted',
              { type: 'recordEvent', params: ({ event }) => launchFailed(failureOf(event)) },
              'forgetIt',
              'tellNotFound',
            ],
          },
          // As above, and the runtime has it: the same attempt is launched again.
          {
            guard: 'isStillCreated',
            target: '#container.launching.awaitingRetry',
            actions: [
              'recordNotStarted',
              { type: 'recordEvent', params: ({ event }) => launchFailed(failureOf(event)) },
            ],
          },
          // It may run all the same: the same attempt is launched again, and finds it.
          { target: '#container.launching.awaitingRetry', actions: 'recordCallFailure' },
        ],
      },
      // One that ends at once is heard of before the call that started it has answered.
      on: { ...afterTheCall, 'runtime.containerObserved': { guard: 'showsEnd', actions: 'recordEnd' } },
    },
  },
});
