/**
 * Stops a container within one grace period, with its preStop hook, SIGTERM and SIGKILL (C10). Part of the chart in
 * chart.ts.
 */
import { assertEvent, assign, not } from 'xstate';
import type { ObservedContainer } from '../../../kubernetes/lifecycle/observed.ts';
import { SERVICE_NEVER_FAILS } from '../../shared/coverageGaps.ts';
import { killFailedEvents } from '../../shared/events/failureEvents.ts';
import { failureOf } from '../../shared/waiting/failure.ts';
import { after, retryWaitState } from '../../shared/waiting/waits.ts';
import { type ContainerContext, earlierDeadline, hookInput, knownContainer, specOf } from '../context.ts';
import { preStopFailedEvents } from '../recordedEvents.ts';
import { assignQueried, type ContainerArgs, containerSetup, queriedContainer } from '../setup.ts';
import { terminatedRun } from '../terminatedRun.ts';
import { hasFailedPostStart } from '../waitingReason.ts';

const guards = {
  /** Whether no process is left in the sandbox, in which case no hook can run there. */
  isSandboxGone: ({ context }: ContainerArgs) => context.lostSandbox === null,
  hasPreStopHook: ({ context }: ContainerArgs) => specOf(context).lifecycle?.preStop !== undefined,
  /**
   * Whether a stop command shortens the grace period, which no command may extend (C10). A container that is being
   * killed immediately has no grace period left.
   */
  shortensGracePeriod: ({ context: { stopBy, stopGraceSeconds }, event }: ContainerArgs) => {
    assertEvent(event, 'container.stop');
    return (event.deadline ?? Infinity) < (stopBy ?? (stopGraceSeconds === 0 ? -Infinity : Infinity));
  },
  hasStopDeadline: ({ context }: ContainerArgs) => context.stopBy !== undefined,
  mustAwaitOtherContainers: ({ context }: ContainerArgs) => context.awaitsOtherContainers,
};

const gracePeriodSeconds = ({ pod, stopGraceSeconds }: ContainerContext): number =>
  stopGraceSeconds ?? pod.spec.terminationGracePeriodSeconds ?? 30;

/** Returns the input of a timer that runs until the deadline, but at most for the grace period. */
const graceTimerInput = (context: ContainerContext) => ({
  until: context.stopBy ?? 0,
  within: gracePeriodSeconds(context) * 1_000,
});

/**
 * Maximum time in milliseconds for a kill after the grace period. It is the sum of the minimum grace period of 2 s and
 * the 120 s after which the stop call times out.
 */
const KILL_TIMEOUT_MS = 122_000;

const actions = {
  recordStoppedRun: assignQueried((_, container: ObservedContainer | null) =>
    container === null
      ? {}
      : { id: container.id, run: terminatedRun(container), stopBy: undefined, stopGraceSeconds: undefined },
  ),
  /**
   * Records whether the kubelet would kill the run in the same sync in which it restarts the container. This is not the
   * case after a failed postStart hook or if the container was terminated together with its sandbox, because a kubelet
   * observes these terminations before that sync.
   */
  recordKill: containerSetup.assign(({ context }) => ({
    isKilledToRestart: !hasFailedPostStart(context) && context.lostSandbox !== null,
  })),
  /** Sets the grace period to 0 for a restart of the whole pod (C5), regardless of later commands. */
  limitGracePeriod: containerSetup.assign(({ context: { exitReaction } }) =>
    exitReaction === 'restartWithPod' ? { stopGraceSeconds: 0 } : {},
  ),
  /** Sets the grace period to 0 when the deadline has passed, even if the clock has been set back since then (C10). */
  consumeGracePeriod: containerSetup.assign(({ context: { stopBy } }) =>
    stopBy === undefined ? {} : { stopGraceSeconds: 0 },
  ),
  /** Limits a retry to the remaining grace period, regardless of clock changes (C10). */
  limitToRemainingGracePeriod: containerSetup.assign(({ context, event }) => ({
    stopGraceSeconds: earlierDeadline(context.stopGraceSeconds, failureOf(event).graceSeconds),
  })),
  /** Deducts the wait for another attempt from the grace period, which continues to run during the wait. */
  deductRetryWait: containerSetup.assign(({ context: { stopBy, stopGraceSeconds, failure, retryAt } }) => {
    if (stopBy === undefined || stopGraceSeconds === undefined || failure === undefined) return {};
    return { stopGraceSeconds: Math.max(0, stopGraceSeconds - Math.ceil((retryAt - failure.at) / 1_000)) };
  }),
  /** Stops the startup and liveness probes. The readiness probe continues while the container stops. */
  stopStartupAndLivenessProbes: containerSetup.enqueueActions(({ enqueue }) => {
    enqueue.stopChild('probe/startup');
    enqueue.stopChild('probe/liveness');
  }),
};

export const stoppingImplementations = { guards, actions };

export const stopping = containerSetup.extend(stoppingImplementations).createStateConfig({
  description:
    'The container has to stop, because its pod terminates or restarts, a probe has failed, or its spec has changed.',
  tags: 'stopping',
  meta: { rules: ['C10'], region: 'stopping' },
  entry: [
    // The kill after a failed postStart hook is part of the start and therefore blocks the pod's other containers (C9).
    {
      type: 'reportLifecycle',
      params: ({ context }) => ({ lifecycle: hasFailedPostStart(context) ? 'launching' : 'live' }),
    },
    'stopStartupAndLivenessProbes',
    'recordKill',
  ],
  initial: 'choosing',
  on: {
    'container.stop': [
      { guard: 'shortensGracePeriod', target: '.killing', actions: 'stopForGood' },
      { actions: 'stopForGood' },
    ],
    'container.reset': { guard: not('isStoppedForGood'), target: '.killing', actions: 'requireReset' },
    'runtime.containerObserved': { guard: 'isObservedExited', target: 'ended', actions: 'recordObservedExit' },
  },
  states: {
    choosing: {
      description: 'It is decided whether the preStop hook, the containers that stop first, or the kill is next.',
      tags: 'working',
      always: [
        // A restart of the whole pod runs no hooks and grants no grace period.
        { guard: 'mustRestartWithPod', target: 'killing' },
        { guard: 'isSandboxGone', target: 'killing' },
        { guard: 'hasPreStopHook', target: 'runningPreStop' },
        { target: 'awaitingOtherContainers' },
      ],
    },
    runningPreStop: {
      description: 'The preStop hook runs within the grace period.',
      tags: ['working', 'runningPreStop'],
      initial: 'choosing',
      invoke: {
        src: 'runHook',
        input: ({ context }) => hookInput(context, 'preStop', context.stopBy),
        onDone: {
          target: 'awaitingOtherContainers',
          actions: [
            assign(({ context, event: { output } }) => ({
              stopBy: earlierDeadline(context.stopBy, output.deadline),
              stopGraceSeconds: earlierDeadline(context.stopGraceSeconds, output.graceSeconds),
              ...(output.failure ? { failure: output.failure } : {}),
            })),
            { type: 'recordEvent', params: ({ event }) => preStopFailedEvents(event.output.failure) },
            { type: 'recordPodEvent', params: ({ event }) => event.output.warnings ?? [] },
          ],
        },
        onError: {
          target: 'awaitingOtherContainers',
          actions: [
            assign(({ event }) => ({ failure: failureOf(event) })),
            { type: 'recordEvent', params: ({ event }) => preStopFailedEvents(failureOf(event)) },
          ],
          meta: { coverageGap: SERVICE_NEVER_FAILS },
        },
      },
      on: {
        'container.stop': [
          { guard: 'shortensGracePeriod', target: '.bounded', actions: 'stopForGood' },
          { actions: 'stopForGood' },
        ],
      },
      states: {
        choosing: {
          description: 'It is decided whether the hook has a deadline.',
          always: [{ guard: 'hasStopDeadline', target: 'bounded' }, { target: 'unbounded' }],
        },
        bounded: {
          description: 'The hook may run until the deadline, which a command may set or shorten meanwhile.',
          meta: { waitsFor: 'its preStop hook', until: 'stopBy' },
          invoke: after(graceTimerInput),
          on: { 'timer.elapsed': { target: '#container.stopping.killing', actions: 'consumeGracePeriod' } },
        },
        unbounded: {
          description: 'There is no deadline. The port that runs the hook enforces the grace period.',
          meta: { waitsFor: 'its preStop hook' },
        },
      },
    },
    awaitingOtherContainers: {
      description:
        'A sidecar continues to run until the containers that may need it have stopped, but not beyond the deadline.',
      tags: 'waiting',
      meta: { waitsFor: 'the containers that stop before it', until: 'stopBy', rules: ['C11'] },
      always: { guard: not('mustAwaitOtherContainers'), target: 'killing' },
      invoke: after(graceTimerInput),
      on: {
        'timer.elapsed': { target: 'killing', actions: 'consumeGracePeriod' },
        'container.stop': [
          {
            guard: 'shortensGracePeriod',
            target: 'awaitingOtherContainers',
            reenter: true,
            actions: 'stopForGood',
            meta: {
              coverageGap: {
                reason: 'the grace period is seldom shortened in this state; tested on its machine',
                isRare: true,
              },
            },
          },
          { actions: 'stopForGood' },
        ],
      },
    },
    killing: {
      description: 'The runtime stops the process, and kills it if it does not exit in time.',
      tags: ['working', 'killing'],
      entry: 'limitGracePeriod',
      initial: 'graceful',
      states: {
        graceful: {
          description:
            'The process has received its stop signal (SIGTERM by default) and may run until the end of the grace period.',
          meta: { waitsFor: 'its process to exit', until: 'stopBy' },
          invoke: after((context: ContainerContext) =>
            context.stopBy === undefined ? gracePeriodSeconds(context) * 1_000 : graceTimerInput(context),
          ),
          on: { 'timer.elapsed': 'overdue' },
        },
        overdue: {
          description:
            'The grace period is over. The runtime kills the process with SIGKILL, which may take up to the time limit of the call.',
          tags: 'overdue',
          meta: { waitsFor: 'the runtime to kill its process', afterMs: KILL_TIMEOUT_MS },
        },
      },
      invoke: {
        src: 'stopContainer',
        input: ({ context }) => ({
          ...knownContainer(context),
          graceSeconds: gracePeriodSeconds(context),
          deadline: context.stopBy,
        }),
        onDone: [
          {
            guard: { type: 'isAbsent', params: queriedContainer },
            target: '#container.ended',
            actions: 'recordUnknownExit',
          },
          {
            target: '#container.ended',
            actions: { type: 'recordStoppedRun', params: queriedContainer },
          },
        ],
        onError: {
          target: 'awaitingRetry',
          actions: [
            'recordCallFailure',
            'limitToRemainingGracePeriod',
            { type: 'recordEvent', params: ({ event }) => killFailedEvents(failureOf(event)) },
          ],
        },
      },
    },
    awaitingRetry: {
      ...retryWaitState({
        description: 'The runtime could not stop the container. Another attempt follows after a delay.',
        waitsFor: 'another attempt to stop it',
      }),
      on: {
        'timer.elapsed': { target: 'killing', actions: 'deductRetryWait' },
        'runtime.returned': { guard: 'wasRuntimeUnavailable', target: 'killing' },
      },
    },
  },
});
