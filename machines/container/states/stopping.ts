/** A container that must end: the preStop hook, SIGTERM, SIGKILL, all within one grace (C10). A part of the chart in chart.ts. */
import { assign, not } from 'xstate';
import { failureOf } from '../../shared/failure.ts';
import { killFailed } from '../../shared/failureEvents.ts';
import { type ContainerContext, hookRequest, knownContainer, sooner, specOf } from '../context.ts';
import { preStopFailed } from '../recordedEvents.ts';
import { type ContainerArgs, containerSetup } from '../setup.ts';
import { terminatedRun } from '../terminatedRun.ts';
import { hasFailedPostStart } from '../waitingReason.ts';

const guards = {
  /** Nothing lives in it any more: no hook can run there. */
  isSandboxGone: ({ context }: ContainerArgs) => context.former === null,
  hasPreStop: ({ context }: ContainerArgs) => specOf(context).lifecycle?.preStop !== undefined,
  /** A stop may shorten the grace, never lengthen it (C10): one that is killed at once has none. */
  isSooner: ({ context: { stopBy, stopWithin }, event }: ContainerArgs) =>
    event.type === 'container.stop' &&
    (event.deadline ?? Infinity) < (stopBy ?? (stopWithin === 0 ? -Infinity : Infinity)),
  hasDeadline: ({ context }: ContainerArgs) => context.stopBy !== undefined,
  awaitsOthers: ({ context }: ContainerArgs) => context.awaitsOthers,
};

/** So many seconds it has where nobody has said until when. */
const graceOf = ({ pod, stopWithin }: ContainerContext): number =>
  stopWithin ?? pod.spec.terminationGracePeriodSeconds ?? 30;

/** The wait for its deadline, which is no further away than its grace lasts. */
const restOfGrace = (context: ContainerContext) => ({
  until: context.stopBy ?? 0,
  within: graceOf(context) * 1_000,
});

/** How long beyond its grace a stop takes at most, with the two seconds that each process has. */
const KILL_LIMIT_MS = 122_000;

const actions = {
  /** A start whose postStart hook fails, and a container that died with its sandbox, are seen to have ended before a sync. */
  noteKill: containerSetup.assign(({ context }) => ({
    killedToRestart: !hasFailedPostStart(context) && context.former !== null,
  })),
  /** A restart of the whole pod grants none (C5), whatever it is told to stop within from now on. */
  limitGrace: containerSetup.assign(({ context: { onEnd } }) => (onEnd === 'reset' ? { stopWithin: 0 } : {})),
  /** Its deadline is over, also where the clock was set back since and shows an earlier time (C10). */
  useUpGrace: containerSetup.assign(({ context: { stopBy } }) => (stopBy === undefined ? {} : { stopWithin: 0 })),
  /** What has failed is tried again with no more grace than was left, whatever the clock is set to meanwhile (C10). */
  giveNoMore: containerSetup.assign(({ context, event }) => ({
    stopWithin: sooner(context.stopWithin, failureOf(event).graceSeconds),
  })),
  /** A deadline goes on while another attempt is waited for. */
  countWait: containerSetup.assign(({ context: { stopBy, stopWithin, failure, retryAt } }) => {
    if (stopBy === undefined || stopWithin === undefined || failure === undefined) return {};
    return { stopWithin: Math.max(0, stopWithin - Math.ceil((retryAt - failure.at) / 1_000)) };
  }),
  /** While it stops, its readiness still tells whether it does its work. */
  endStartupAndLiveness: containerSetup.enqueueActions(({ enqueue }) => {
    enqueue.stopChild('probe/startup');
    enqueue.stopChild('probe/liveness');
  }),
};

export const stoppingImplementations = { guards, actions };

export const stopping = containerSetup.extend(stoppingImplementations).createStateConfig({
  tags: 'stopping',
  entry: [
    // The kill after a postStart hook that failed is a part of its start: it holds up the others as well (C9).
    {
      type: 'report',
      params: ({ context }) => ({ lifecycle: hasFailedPostStart(context) ? 'launching' : 'live' }),
    },
    'endStartupAndLiveness',
    'noteKill',
  ],
  initial: 'choosing',
  on: {
    'container.stop': [{ guard: 'isSooner', target: '.killing', actions: 'stopForGood' }, { actions: 'stopForGood' }],
    'container.reset': { guard: not('mustStay'), target: '.killing', actions: 'askForReset' },
    'runtime.containerObserved': { guard: 'showsEnd', target: 'ended', actions: 'recordEnd' },
  },
  states: {
    choosing: {
      tags: 'working',
      always: [
        // A restart of the whole pod runs no hooks and grants no grace.
        { guard: 'mustReset', target: 'killing' },
        { guard: 'isSandboxGone', target: 'killing' },
        { guard: 'hasPreStop', target: 'runningPreStop' },
        { target: 'awaitingOthers' },
      ],
    },
    /** The hook goes on until the deadline, also until one that is given, or moved nearer, while it runs. */
    runningPreStop: {
      tags: ['working', 'runningPreStop'],
      initial: 'choosing',
      invoke: {
        src: 'runHook',
        input: ({ context }) => hookRequest(context, 'preStop', context.stopBy),
        onDone: {
          target: 'awaitingOthers',
          actions: [
            assign(({ context, event: { output } }) => ({
              stopBy: sooner(context.stopBy, output.deadline),
              stopWithin: sooner(context.stopWithin, output.graceSeconds),
              ...(output.failure ? { failure: output.failure } : {}),
            })),
            { type: 'recordEvent', params: ({ event }) => preStopFailed(event.output.failure) },
            { type: 'recordPodEvent', params: ({ event }) => event.output.warnings ?? [] },
          ],
        },
        onError: {
          target: 'awaitingOthers',
          actions: [
            assign(({ event }) => ({ failure: failureOf(event) })),
            { type: 'recordEvent', params: ({ event }) => preStopFailed(failureOf(event)) },
          ],
        },
      },
      on: {
        'container.stop': [
          { guard: 'isSooner', target: '.bounded', actions: 'stopForGood' },
          { actions: 'stopForGood' },
        ],
      },
      states: {
        choosing: { always: [{ guard: 'hasDeadline', target: 'bounded' }, { target: 'unbounded' }] },
        bounded: {
          meta: { waitsFor: 'its preStop hook', until: 'stopBy' },
          invoke: { src: 'timer', input: ({ context }) => restOfGrace(context) },
          on: { 'timer.elapsed': { target: '#container.stopping.killing', actions: 'useUpGrace' } },
        },
        /** Its own grace is counted where the hook runs. */
        unbounded: { meta: { waitsFor: 'its preStop hook' } },
      },
    },
    /** A sidecar's process is left alone while others stop that may need it, but not beyond the deadline (C11). */
    awaitingOthers: {
      tags: 'waiting',
      meta: { waitsFor: 'the containers that stop before it', until: 'stopBy' },
      always: { guard: not('awaitsOthers'), target: 'killing' },
      invoke: { src: 'timer', input: ({ context }) => restOfGrace(context) },
      on: {
        'timer.elapsed': { target: 'killing', actions: 'useUpGrace' },
        'container.stop': [
          { guard: 'isSooner', target: 'awaitingOthers', reenter: true, actions: 'stopForGood' },
          { actions: 'stopForGood' },
        ],
      },
    },
    killing: {
      tags: ['working', 'killing'],
      entry: 'limitGrace',
      initial: 'graceful',
      states: {
        graceful: {
          meta: { waitsFor: 'its process to exit', until: 'stopBy' },
          invoke: {
            src: 'timer',
            input: ({ context }) =>
              context.stopBy === undefined ? { after: graceOf(context) * 1_000 } : restOfGrace(context),
          },
          on: { 'timer.elapsed': 'overdue' },
        },
        /** It is killed now, which takes as long as it takes the runtime, up to the limit of the call. */
        overdue: { tags: 'overdue', meta: { waitsFor: 'the runtime to kill its process', afterMs: KILL_LIMIT_MS } },
      },
      invoke: {
        src: 'stopContainer',
        input: ({ context }) => ({
          ...knownContainer(context),
          graceSeconds: graceOf(context),
          deadline: context.stopBy,
        }),
        onDone: [
          {
            guard: { type: 'isAbsent', params: ({ event }) => event.output },
            target: '#container.ended',
            actions: 'recordUnknownEnd',
          },
          {
            target: '#container.ended',
            actions: assign(({ event: { output } }) =>
              output ? { id: output.id, run: terminatedRun(output), stopBy: undefined, stopWithin: undefined } : {},
            ),
          },
        ],
        onError: {
          target: 'awaitingRetry',
          actions: [
            'recordCallFailure',
            'giveNoMore',
            { type: 'recordEvent', params: ({ event }) => killFailed(failureOf(event)) },
          ],
        },
      },
    },
    awaitingRetry: {
      tags: 'retrying',
      meta: { waitsFor: 'another attempt to stop it', until: 'retryAt' },
      invoke: { src: 'timer', input: ({ context }) => ({ until: context.retryAt }) },
      on: {
        'timer.elapsed': { target: 'killing', actions: 'countWait' },
        'runtime.returned': { guard: 'failedForRuntime', target: 'killing' },
      },
    },
  },
});
