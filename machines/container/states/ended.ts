/** A run has ended: the restart rules say what follows (C5), and when (C7). */
import { and } from 'xstate';
import { crashLoopBackOff } from '../../../pod/lifecycle/backoff.ts';
import { hasFailed, isEndedFor, shouldRestart } from '../../../pod/lifecycle/restart.ts';
import type { TerminatedRun } from '../../../pod/status/view.ts';
import { SHOWN_FAILED_MS } from '../../shared/waitingReason.ts';
import { backOffKey, type ContainerContext, leftOfBackOff, pastRuns, specOf } from '../context.ts';
import { recordBackOffEvent } from '../recordedEvents.ts';
import { isRestartOfAll } from '../restartAll.ts';
import { type ContainerArgs, containerSetup } from '../setup.ts';
import { crashLoopReason, hasFailedToStart } from '../waitingReason.ts';

/** Whether the restart rules want it to run again (C5). */
const wantsRestart = (context: ContainerContext): boolean =>
  context.onEnd === 'recreate' ||
  (context.run !== undefined &&
    shouldRestart({
      pod: context.pod,
      container: specOf(context),
      role: context.role,
      run: context.onEnd === 'asFailed' ? asFailed(context.run) : context.run,
      podEnding: context.onEnd === 'stay',
    }));

/** A run that a probe has ended has failed, however well it took its end. */
const asFailed = (run: TerminatedRun): TerminatedRun => (run.exitCode === 0 ? { ...run, exitCode: 137 } : run);

/** The wait before the next run, from the end of the last one (C7); another container begins without one. */
function crashBackoff(context: ContainerContext): { crashDelayMs: number | undefined; retryAt: number } {
  const finishedAt = context.run?.finishedAt;
  if (context.onEnd === 'recreate') return { crashDelayMs: undefined, retryAt: 0 };
  const crashDelayMs = crashLoopBackOff({
    ...(context.crashDelayMs === undefined ? {} : { previousDelayMs: context.crashDelayMs }),
    ...(context.run?.startedAt === undefined ? {} : { startedAt: context.run.startedAt }),
    finishedAt: finishedAt ?? 0,
    ...context.crashLoop,
  });
  // When nobody knows the end, the wait begins where it is seen.
  return { crashDelayMs, retryAt: finishedAt === undefined ? 0 : finishedAt + crashDelayMs };
}

function restOfBackOff(context: ContainerContext) {
  const left = leftOfBackOff(context);
  return context.retryAt > 0 ? { until: context.retryAt, within: left } : { after: left };
}

const guards = {
  changesBackOffKey: ({ context, event }: ContainerArgs) =>
    event.type === 'container.update' && backOffKey({ ...context, pod: event.pod }) !== backOffKey(context),
  hasFailedToStart: ({ context }: ContainerArgs) => hasFailedToStart(context),
  wasStartRefused: ({ context: { id, run } }: ContainerArgs) =>
    isEndedFor(run?.reason, 'StartError') && run?.containerId === id,
  restartsAll: ({ context }: ContainerArgs) => isRestartOfAll(context),
  wantsRestart: ({ context }: ContainerArgs) => wantsRestart(context),
  backsOff: ({ context }: ContainerArgs) => (crashBackoff(context).crashDelayMs ?? 0) > 0,
  hasSucceeded: ({ context: { role, run } }: ContainerArgs) => run !== undefined && !hasFailed(role, run),
  isInit: ({ context }: ContainerArgs) => context.role === 'init',
};

const actions = {
  forgetCrashes: containerSetup.assign({ crashDelayMs: undefined }),
  /** It stays as it was told: what was reported as the last end is not taken back. */
  forgetFailedStart: containerSetup.assign(({ context }) => ({
    isCounted: true,
    ...pastRuns(context),
    waitingReason: undefined,
    failure: undefined,
    crashDelayMs: undefined,
  })),
  /** The runtime knows only how it ended, not who wanted it to. */
  recordCause: containerSetup.assign(({ context: { run, condemnedFor: because } }) =>
    run && because ? { run: { ...run, because } } : {},
  ),
  showCrashLoop: containerSetup.assign(({ context }) => ({ waitingReason: crashLoopReason(context) })),
  backOff: containerSetup.assign(({ context }) => ({ ...crashBackoff(context), backedOffMs: undefined })),
  countShown: containerSetup.assign({ backedOffMs: SHOWN_FAILED_MS }),
};

export const endedImplementations = { guards, actions };

/** Its crash-loop back-off ends for another reason than its time. */
const duringBackOff = {
  'container.update': [
    { guard: 'changesBackOffKey', target: '#container.pending.restarting', actions: ['update', 'forgetCrashes'] },
    { actions: 'update' },
  ],
  // Its sandbox was going when it was to start: nothing is wrong with the container itself.
  'sandbox.lost': [
    {
      guard: 'wasStartRefused',
      target: '#container.pending.restarting',
      actions: ['loseSandbox', 'forgetIt', 'forgetFailedStart'],
    },
    { actions: 'loseSandbox' },
  ],
} as const;

/** Init containers run again in a new sandbox (C3). */
const inNewSandbox = {
  'container.start': { guard: 'isInit', target: '#container.pending.restarting', actions: 'takeTurn' },
} as const;

export const ended = containerSetup.extend(endedImplementations).createStateConfig({
  initial: 'choosing',
  entry: ['endProbes', 'recordCause'],
  on: {
    'container.stop': { target: 'stopped', actions: 'stopForGood' },
    'container.reset': { target: 'pending.reset', actions: 'askForReset' },
  },
  states: {
    choosing: {
      tags: 'working',
      always: [
        { guard: 'mustStay', target: '#container.stopped' },
        { guard: 'mustReset', target: '#container.pending.reset' },
        { guard: 'restartsAll', target: 'awaitingReset' },
        { guard: and(['wantsRestart', 'backsOff', 'hasFailedToStart']), target: 'startFailed', actions: 'backOff' },
        { guard: and(['wantsRestart', 'backsOff']), target: 'backingOff', actions: 'backOff' },
        { guard: 'wantsRestart', target: '#container.pending.restarting', actions: 'backOff' },
        { guard: 'hasSucceeded', target: 'succeeded' },
        { target: 'failed' },
      ],
    },
    /** Why it did not start is shown before its back-off is (C16). */
    startFailed: {
      tags: 'retrying',
      meta: { waitsFor: 'the end of its crash-loop back-off', until: 'restartAt' },
      entry: { type: 'report', params: { lifecycle: 'delayed' } },
      invoke: [
        { src: 'timer', input: { after: SHOWN_FAILED_MS } },
        // Of its end may be heard so late that there is less left of that.
        { src: 'timer', input: ({ context }) => restOfBackOff(context) },
      ],
      on: { 'timer.elapsed': { target: 'backingOff', actions: 'countShown' }, ...duringBackOff },
    },
    /** CrashLoopBackOff (C7). */
    backingOff: {
      tags: 'retrying',
      meta: { waitsFor: 'the end of its crash-loop back-off', until: 'restartAt' },
      entry: ['showCrashLoop', { type: 'report', params: { lifecycle: 'delayed' } }, recordBackOffEvent],
      invoke: {
        src: 'timer',
        input: ({ context }) => restOfBackOff(context),
      },
      on: { 'timer.elapsed': '#container.pending.restarting', ...duringBackOff },
    },
    /** By its restart rules its end restarts the whole pod in place; one that loses its sandbox meanwhile, in the next one. */
    awaitingReset: {
      tags: 'waiting',
      meta: { waitsFor: 'all containers of its pod to restart' },
      entry: { type: 'report', params: { lifecycle: 'restartsAll' } },
    },
    succeeded: {
      tags: ['done', 'rests'],
      entry: { type: 'report', params: { lifecycle: 'succeeded' } },
      on: inNewSandbox,
    },
    failed: {
      tags: ['failed', 'rests'],
      entry: { type: 'report', params: { lifecycle: 'failed' } },
      on: inNewSandbox,
    },
  },
});
