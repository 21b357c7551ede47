/**
 * Terminates the pods before the host shuts down (C49). logind delays a shutdown while the node holds an inhibitor
 * lock. When a shutdown is announced, the pods terminate group by group in ascending order of priority, and then the
 * lock is released.
 */
import { assertEvent, assign, enqueueActions, sendTo, setup } from 'xstate';
import {
  type EventMessage,
  involvedNode,
  type RecordedEvent,
  recordedEvent,
} from '../../kubernetes/events/recordedEvent.ts';
import { RARELY_TAKEN, SERVICE_NEVER_FAILS } from '../shared/coverageGaps.ts';
import type { ShutdownEvent, ShutdownReport } from '../shared/events/shutdownEvents.ts';
import { feedPort, type PortTypes, port, timerPort } from '../shared/ports.ts';
import type { ActorInfo, StateMeta, StateTag } from '../shared/stateMeta.ts';
import { parent } from '../shared/views/actorRefs.ts';
import { failureOf } from '../shared/waiting/failure.ts';
import { after } from '../shared/waiting/waits.ts';
import {
  groupLimitMs,
  initialShutdownContext,
  isGroupCleanedUp,
  MAX_POLLS,
  pollIntervalMs,
  requiredDelayMs,
  type ShutdownContext,
  type ShutdownInput,
  startedTermination,
} from './context.ts';
import { facts } from './facts.ts';

/** Interval between two attempts to connect to logind (`dbusReconnectPeriod`). */
const RECONNECT_INTERVAL_MS = 1_000;

/** Returns the delay in the response of `readInhibitDelay`. */
const delayOf = (event: object): number | undefined =>
  // Safe cast: only transitions on the completion of `readInhibitDelay` call this function.
  'output' in event ? (event.output as PortTypes['readInhibitDelay']['output']).delayMs : undefined;

const SHUTDOWN_EVENT: EventMessage = { reason: 'Shutdown', message: 'Shutdown manager detected shutdown event' };
const CANCELLATION_EVENT: EventMessage = {
  reason: 'Shutdown',
  message: 'Shutdown manager detected shutdown cancellation',
};

export const shutdownMachine = setup({
  types: {
    input: {} as ShutdownInput,
    context: {} as ShutdownContext,
    events: {} as ShutdownEvent,
    emitted: {} as RecordedEvent,
    meta: {} as StateMeta,
    tags: {} as StateTag,
  },
  actors: {
    readInhibitDelay: port('readInhibitDelay'),
    raiseInhibitDelay: port('raiseInhibitDelay'),
    saveShutdown: port('saveShutdown'),
    pickTime: port('pickTime'),
    shutdownSignals: feedPort('shutdownSignals'),
    shutdownLock: feedPort('shutdownLock'),
    timer: timerPort(),
  },
  guards: {
    isDelayLongEnough: ({ context, event }) => (delayOf(event) ?? 0) >= requiredDelayMs(context),
    hasRaisedDelay: ({ context }) => context.pollCount > 0,
    /**
     * Whether the node has to reconnect to logind. This is the case if logind has worked before, or if a shutdown is in
     * progress, because only a new lock shows that the shutdown was cancelled.
     */
    mustReconnect: ({ context }) => context.hasLocked || context.isShuttingDown,
    isAnnouncement: ({ event }) => {
      assertEvent(event, 'logind.shutdownChanged');
      return event.isShuttingDown;
    },
    isNewAnnouncement: ({ context, event }) => {
      assertEvent(event, 'logind.shutdownChanged');
      return !context.isShuttingDown && event.isShuttingDown;
    },
    isCancellation: ({ context, event }) => {
      assertEvent(event, 'logind.shutdownChanged');
      return context.isShuttingDown && !event.isShuttingDown;
    },
    isShuttingDown: ({ context }) => context.isShuttingDown,
    hasLostLogind: ({ context }) => context.hasLostLogind,
    hasGroup: ({ context }) => context.groups.length > 0,
    isGroupCleanedUp: ({ context }) => isGroupCleanedUp(context),
  },
  actions: {
    recordDelay: assign(({ event }) => ({ delayMs: delayOf(event) })),
    countPoll: assign(({ context }) => ({ pollCount: context.pollCount + 1 })),
    recordFailure: assign(({ event }) => ({ failure: failureOf(event) })),
    recordFeedFailure: assign(({ event }) => {
      assertEvent(event, 'feed.ended');
      return { failure: event.failure };
    }),
    recordLostLogind: assign({ hasLostLogind: true }),
    resetConnection: assign({ hasLostLogind: false, pollCount: 0 }),
    recordLock: assign({ hasLocked: true, failure: undefined }),
    recordAnnouncement: enqueueActions(({ context: { nodeName }, event, enqueue }) => {
      assertEvent(event, 'logind.shutdownChanged');
      const { at } = event;
      enqueue.assign({ isShuttingDown: true, lastShutdown: { startedAt: at } });
      enqueue.emit(recordedEvent(involvedNode(nodeName), SHUTDOWN_EVENT));
      enqueue.sendTo(parent<ShutdownReport>(), { type: 'shutdown.changed', isShuttingDown: true, at });
    }),
    /** Records a cancellation. logind grants no lock during a shutdown, so a new lock also shows a cancellation. */
    recordCancellation: enqueueActions(({ context: { nodeName }, event, enqueue }) => {
      assertEvent(event, ['logind.shutdownChanged', 'logind.locked']);
      const { at } = event;
      enqueue.assign({ isShuttingDown: false, groups: [], cleanedUpUids: [] });
      enqueue.emit(recordedEvent(involvedNode(nodeName), CANCELLATION_EVENT));
      enqueue.sendTo(parent<ShutdownReport>(), { type: 'shutdown.changed', isShuttingDown: false, at });
    }),
    requestPods: sendTo(parent<ShutdownReport>(), { type: 'shutdown.podsRequested' }),
    recordPods: assign(({ context, event }) => {
      assertEvent(event, 'shutdown.podsListed');
      return startedTermination(context, event);
    }),
    startGroup: enqueueActions(({ context, enqueue }, at: number) => {
      const [group] = context.groups;
      enqueue.assign({ groupStartedAt: at });
      if (group !== undefined) enqueue.sendTo(parent<ShutdownReport>(), { type: 'shutdown.groupChosen', group, at });
    }),
    recordCleanedUp: assign(({ context, event }) => {
      assertEvent(event, 'pod.cleanedUp');
      return { cleanedUpUids: [...context.cleanedUpUids, event.uid] };
    }),
    dropGroup: assign(({ context }) => ({ groups: context.groups.slice(1), cleanedUpUids: [] })),
    recordEnd: assign(({ context: { lastShutdown } }, endedAt: number) => ({
      lastShutdown: lastShutdown && { ...lastShutdown, endedAt },
    })),
  },
}).createMachine({
  id: 'shutdown',
  description: 'The shutdown of the host, which is delayed until the pods have terminated.',
  meta: {
    rules: ['C49'],
    facts,
    deadlines: ({ since, snapshot: { context } }: ActorInfo<ShutdownContext>) => ({
      retryAt: since + pollIntervalMs(context),
      deadline: context.groupStartedAt + groupLimitMs(context),
    }),
  },
  context: ({ input }) => initialShutdownContext(input),
  initial: 'readingDelay',
  on: {
    // Ignore reports about pods that have exceeded the grace period of their group.
    'pod.stopped': {},
    'pod.cleanedUp': {},
  },
  states: {
    readingDelay: {
      description:
        'The node queries logind for the maximum delay of a shutdown, which has to cover the times of all groups.',
      tags: 'working',
      meta: { waitsFor: 'logind to report the maximum delay of a shutdown' },
      invoke: {
        src: 'readInhibitDelay',
        input: ({ context }) => ({
          requiredMs: requiredDelayMs(context),
          attempt: context.pollCount,
          maxAttempts: MAX_POLLS,
        }),
        onDone: [
          { guard: 'isDelayLongEnough', target: 'following', actions: 'recordDelay' },
          { guard: 'hasRaisedDelay', target: 'awaitingDelay', actions: 'recordDelay' },
          { target: 'raisingDelay', actions: 'recordDelay' },
        ],
        onError: [
          {
            guard: 'mustReconnect',
            target: 'reconnecting',
            actions: 'recordFailure',
            meta: { coverageGap: RARELY_TAKEN },
          },
          { target: 'disabled', actions: 'recordFailure' },
        ],
      },
    },
    raisingDelay: {
      description: 'The maximum delay is too short, so a longer one is configured and logind is told to reload.',
      tags: 'working',
      meta: { waitsFor: 'a longer delay of a shutdown to be configured' },
      invoke: {
        src: 'raiseInhibitDelay',
        input: ({ context }) => ({ delayMs: requiredDelayMs(context) }),
        onDone: { target: 'readingDelay', actions: 'countPoll' },
        onError: [
          {
            guard: 'mustReconnect',
            target: 'reconnecting',
            actions: 'recordFailure',
            meta: { coverageGap: RARELY_TAKEN },
          },
          { target: 'disabled', actions: 'recordFailure' },
        ],
      },
    },
    awaitingDelay: {
      description:
        'The delay is read again after an interval, because logind reloads its configuration asynchronously.',
      tags: 'waiting',
      meta: { waitsFor: 'logind to apply the longer delay', until: 'retryAt' },
      invoke: after((context: ShutdownContext) => pollIntervalMs(context)),
      on: { 'timer.elapsed': { target: 'readingDelay', actions: 'countPoll' } },
    },
    following: {
      description: 'The node receives the signals of logind about a shutdown.',
      invoke: { src: 'shutdownSignals' },
      initial: 'subscribing',
      on: {
        'feed.ended': [
          { guard: 'mustReconnect', target: 'reconnecting', actions: 'recordFeedFailure' },
          { target: 'disabled', actions: 'recordFeedFailure' },
        ],
      },
      states: {
        subscribing: {
          description: 'The node subscribes to the signals, before it takes the lock.',
          tags: 'working',
          meta: { waitsFor: 'the signals of logind to be received' },
          on: { 'logind.watched': 'locked' },
        },
        locked: {
          description: 'The lock delays a shutdown. Leaving this state releases it.',
          invoke: { src: 'shutdownLock' },
          initial: 'locking',
          states: {
            locking: {
              description: 'The node requests the lock.',
              tags: 'working',
              meta: { waitsFor: 'logind to grant the lock that delays a shutdown' },
              on: {
                'logind.locked': [
                  {
                    guard: 'isShuttingDown',
                    target: 'watching',
                    actions: ['recordLock', 'recordCancellation'],
                    meta: { coverageGap: RARELY_TAKEN },
                  },
                  { target: 'watching', actions: 'recordLock' },
                ],
                'logind.shutdownChanged': {
                  guard: 'isAnnouncement',
                  target: 'terminating',
                  actions: 'recordAnnouncement',
                  meta: { coverageGap: RARELY_TAKEN },
                },
              },
            },
            watching: {
              description: 'The node holds the lock. No shutdown has been announced.',
              tags: 'steady',
              on: {
                'logind.shutdownChanged': {
                  guard: 'isAnnouncement',
                  target: 'terminating',
                  actions: 'recordAnnouncement',
                },
              },
            },
            terminating: {
              description: 'The host is about to shut down, and the groups of pods terminate one after the other.',
              tags: 'working',
              initial: 'savingStart',
              on: {
                // After a cancellation, the remaining groups are not terminated.
                'logind.shutdownChanged': [
                  { guard: 'isCancellation', target: '.savingEnd', actions: 'recordCancellation' },
                  { guard: 'isNewAnnouncement', target: '.savingStart', actions: 'recordAnnouncement' },
                ],
                // The shutdown was announced before the lock was granted.
                'logind.locked': { actions: 'recordLock', meta: { coverageGap: RARELY_TAKEN } },
                // The pods terminate even if the connection is lost.
                'feed.ended': { actions: ['recordFeedFailure', 'recordLostLogind'] },
              },
              states: {
                savingStart: {
                  description: 'The start of the shutdown is written to disk.',
                  meta: { waitsFor: 'the start of the shutdown to be saved' },
                  invoke: {
                    src: 'saveShutdown',
                    input: ({ context }) => ({ startedAt: context.lastShutdown?.startedAt ?? 0, isComplete: false }),
                    onDone: 'requestingPods',
                    onError: { target: 'requestingPods', actions: 'recordFailure' },
                  },
                },
                requestingPods: {
                  description: 'The node lists its running pods.',
                  meta: { waitsFor: 'the node to list its pods' },
                  entry: 'requestPods',
                  on: { 'shutdown.podsListed': { target: 'choosingGroup', actions: 'recordPods' } },
                },
                choosingGroup: {
                  description: 'The group with the lowest priority is next.',
                  always: [{ guard: 'hasGroup', target: 'startingGroup' }, { target: 'savingEnd' }],
                },
                startingGroup: {
                  description: 'The time is read, from which the grace periods of the group are counted.',
                  meta: { waitsFor: 'the time to be read' },
                  invoke: {
                    src: 'pickTime',
                    input: { withinMs: 0 },
                    onDone: {
                      target: 'stoppingGroup',
                      actions: { type: 'startGroup', params: ({ event }) => event.output.at },
                    },
                    onError: {
                      target: 'stoppingGroup',
                      actions: { type: 'startGroup', params: ({ context }) => context.lastShutdown?.startedAt ?? 0 },
                      meta: { coverageGap: SERVICE_NEVER_FAILS },
                    },
                  },
                },
                stoppingGroup: {
                  description:
                    'The pods of the group stop, and their volumes are unmounted, within the time of the group.',
                  meta: { waitsFor: 'the pods of a group to terminate', until: 'deadline' },
                  invoke: after((context: ShutdownContext) => groupLimitMs(context)),
                  always: { guard: 'isGroupCleanedUp', target: 'choosingGroup', actions: 'dropGroup' },
                  on: {
                    'pod.cleanedUp': { actions: 'recordCleanedUp' },
                    'timer.elapsed': { target: 'choosingGroup', actions: 'dropGroup' },
                  },
                },
                savingEnd: {
                  description: 'The end of the shutdown is written to disk.',
                  meta: { waitsFor: 'the end of the shutdown to be saved' },
                  invoke: {
                    src: 'saveShutdown',
                    input: ({ context }) => ({ startedAt: context.lastShutdown?.startedAt ?? 0, isComplete: true }),
                    onDone: {
                      target: 'ended',
                      actions: { type: 'recordEnd', params: ({ event }) => event.output.at },
                    },
                    onError: { target: 'ended', actions: 'recordFailure' },
                  },
                },
                ended: {
                  description: 'No pod is left to terminate.',
                  always: [
                    { guard: 'hasLostLogind', target: '#shutdown.reconnecting' },
                    { guard: 'isShuttingDown', target: '#shutdown.following.released' },
                    { target: '#shutdown.following.locked.watching' },
                  ],
                },
              },
            },
          },
        },
        released: {
          description: 'The lock is released, and the host shuts down unless the shutdown is cancelled.',
          tags: 'waiting',
          meta: { waitsFor: 'the host to shut down' },
          on: {
            'logind.shutdownChanged': {
              guard: 'isCancellation',
              target: 'locked',
              actions: 'recordCancellation',
            },
          },
        },
      },
    },
    reconnecting: {
      description: 'The connection to logind is lost. Until it is restored, a shutdown would not be noticed.',
      tags: 'retrying',
      meta: { waitsFor: 'another attempt to connect to logind', afterMs: RECONNECT_INTERVAL_MS },
      entry: 'resetConnection',
      invoke: after(RECONNECT_INTERVAL_MS),
      on: { 'timer.elapsed': 'readingDelay' },
    },
    disabled: {
      description: 'There is no usable logind, so pods do not terminate gracefully when the host shuts down.',
      tags: 'failed',
    },
  },
});
