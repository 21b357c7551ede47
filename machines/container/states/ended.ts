/** Handles a terminated run. The restart rules decide whether (C5) and when (C7) the next run starts. */
import { and, assertEvent } from 'xstate';
import { crashLoopBackOff } from '../../../kubernetes/lifecycle/backoff.ts';
import { hasFailed, hasRunReason, shouldRestart } from '../../../kubernetes/lifecycle/restart.ts';
import type { TerminatedRun } from '../../../kubernetes/status/view.ts';
import { RARELY_TAKEN } from '../../shared/coverageGaps.ts';
import { FAILURE_DISPLAY_MS } from '../../shared/views/waitingReason.ts';
import { after } from '../../shared/waiting/waits.ts';
import { backOffKey, type ContainerContext, pastRuns, remainingBackOffMs, specOf } from '../context.ts';
import { recordBackOffEvent } from '../recordedEvents.ts';
import { isWholePodRestart } from '../restartAll.ts';
import { type ContainerArgs, containerSetup } from '../setup.ts';
import { crashLoopReason, hasFailedToStart } from '../waitingReason.ts';

const wantsRestart = (context: ContainerContext): boolean =>
  context.exitReaction === 'recreate' ||
  (context.run !== undefined &&
    shouldRestart({
      pod: context.pod,
      container: specOf(context),
      role: context.role,
      run: context.stopCause === undefined ? context.run : asFailedRun(context.run),
      isPodTerminating: context.exitReaction === 'stop',
    }));

/** Treats a run stopped by a probe as failed, even if it exited with 0. */
const asFailedRun = (run: TerminatedRun): TerminatedRun => (run.exitCode === 0 ? { ...run, exitCode: 137 } : run);

/** The back-off delay before the next start, and how much of it remains. */
interface NextStart {
  readonly crashDelayMs: number | undefined;
  readonly waitMs: number;
  /**
   * Due time of the next start in milliseconds since the epoch. 0 if the termination time of the run is unknown, in
   * which case the wait starts now.
   */
  readonly retryAt: number;
}

/**
 * Returns the delay before the next run (C7). The delay normally starts when the last run terminates. However, the
 * kubelet kills a container and restarts it in the same sync, in which `doBackOff`
 * (`pkg/kubelet/kuberuntime/kuberuntime_manager.go`) sees only the runs that had terminated before the kill. If the
 * delay since the latest of these runs has passed, the container starts immediately. Otherwise, the next sync measures
 * the delay from the termination of the killed run.
 */
function nextStart(context: ContainerContext): NextStart {
  const { run, crashDelayMs: previousDelayMs, isKilledToRestart = false } = context;
  const immediateStart = { waitMs: 0, retryAt: 0 };
  const delayedStart = nextStartAfterRun(context);
  if (!isKilledToRestart) return delayedStart;
  const lastFinishedAt = [context.earlierRun, context.oldestRun].find(
    (each) => each?.finishedAt !== undefined,
  )?.finishedAt;
  if (lastFinishedAt === undefined) return { crashDelayMs: previousDelayMs, ...immediateStart };
  if (previousDelayMs === undefined) return { crashDelayMs: 0, ...immediateStart };
  const crashDelayMs = crashLoopBackOff({ previousDelayMs, finishedAt: lastFinishedAt, ...context.crashLoop });
  const hasDelayPassed = run?.finishedAt !== undefined && run.finishedAt - lastFinishedAt >= crashDelayMs;
  return hasDelayPassed ? { crashDelayMs, ...immediateStart } : delayedStart;
}

function nextStartAfterRun({ run, crashDelayMs: previousDelayMs, crashLoop }: ContainerContext): NextStart {
  const finishedAt = run?.finishedAt;
  const crashDelayMs = crashLoopBackOff({
    ...(previousDelayMs === undefined ? {} : { previousDelayMs }),
    ...(run?.startedAt === undefined ? {} : { startedAt: run.startedAt }),
    finishedAt: finishedAt ?? 0,
    ...crashLoop,
  });
  return { crashDelayMs, waitMs: crashDelayMs, retryAt: finishedAt === undefined ? 0 : finishedAt + crashDelayMs };
}

function remainingBackOff(context: ContainerContext) {
  const remainingMs = remainingBackOffMs(context);
  return context.retryAt > 0 ? { until: context.retryAt, within: remainingMs } : { after: remainingMs };
}

const guards = {
  changesBackOffKey: ({ context, event }: ContainerArgs) => {
    assertEvent(event, 'container.update');
    return backOffKey({ ...context, pod: event.pod }) !== backOffKey(context);
  },
  hasFailedToStart: ({ context }: ContainerArgs) => hasFailedToStart(context),
  wasStartRefused: ({ context: { id, run } }: ContainerArgs) =>
    hasRunReason(run?.reason, 'StartError') && run?.containerId === id,
  mustRestartWholePod: ({ context }: ContainerArgs) => isWholePodRestart(context),
  mustRestart: ({ context }: ContainerArgs) => wantsRestart(context),
  mustBackOff: ({ context }: ContainerArgs) => nextStart(context).waitMs > 0,
  hasSucceeded: ({ context: { role, run } }: ContainerArgs) => run !== undefined && !hasFailed(role, run),
  isInitContainer: ({ context }: ContainerArgs) => context.role === 'init',
};

const actions = {
  /**
   * Records a start under a new back-off key with a delay of 0, because a run has terminated before it (`backOff.Next`
   * in `doBackOff`).
   */
  resetBackOff: containerSetup.assign({ crashDelayMs: 0 }),
  /**
   * Clears a failed start. The reported restart count and the last reported run remain, because neither can be
   * withdrawn.
   */
  clearFailedStart: containerSetup.assign(({ context }) => ({
    isAttemptReported: true,
    ...pastRuns(context),
    waitingReason: undefined,
    failure: undefined,
    crashDelayMs: undefined,
  })),
  /** Adds the output of the failed probe to the run, because the runtime does not know why the run was stopped. */
  recordStopCause: containerSetup.assign(({ context: { run, stopCause } }) =>
    run && stopCause ? { run: { ...run, stopCause } } : {},
  ),
  recordCrashLoop: containerSetup.assign(({ context }) => ({ waitingReason: crashLoopReason(context) })),
  scheduleRestart: containerSetup.assign(({ context }) => {
    const { crashDelayMs, retryAt } = nextStart(context);
    return { crashDelayMs, retryAt, elapsedBackOffMs: undefined };
  }),
  deductDisplayTime: containerSetup.assign({ elapsedBackOffMs: FAILURE_DISPLAY_MS }),
};

export const endedImplementations = { guards, actions };

/** Transitions on an update that ends the crash-loop back-off early. */
const updateTransitions = [
  { guard: 'changesBackOffKey', target: '#container.pending.restarting', actions: ['recordUpdate', 'resetBackOff'] },
  { actions: 'recordUpdate', meta: { coverageGap: RARELY_TAKEN } },
] as const;

/** Transition if the start failed because the sandbox was going away. The container itself is not at fault. */
const startInNextSandbox = {
  guard: 'wasStartRefused',
  target: '#container.pending.restarting',
  actions: ['recordLostSandbox', 'forgetContainer', 'clearFailedStart'],
} as const;

/** Transition for an init container, which runs again in each sandbox. */
const runAgainTransition = {
  guard: 'isInitContainer',
  target: '#container.pending.restarting',
  actions: 'recordTurn',
} as const;

export const ended = containerSetup.extend(endedImplementations).createStateConfig({
  description: 'The run has terminated. The restart policy, the restart rules and the exit code decide what follows.',
  meta: { region: 'run', layout: { hasNoBox: true } },
  initial: 'choosing',
  entry: ['stopProbes', 'recordStopCause'],
  on: {
    'container.stop': { target: 'stopped', actions: 'stopForGood' },
    'container.reset': { target: 'pending.resetting', actions: 'requireReset' },
  },
  states: {
    choosing: {
      description: 'It is decided whether the container runs again, and when.',
      tags: 'working',
      meta: { rules: ['C5', 'C7'], layout: { column: 3 } },
      always: [
        { guard: 'isStoppedForGood', target: '#container.stopped' },
        { guard: 'mustRestartWithPod', target: '#container.pending.resetting' },
        { guard: 'mustRestartWholePod', target: 'awaitingReset' },
        {
          guard: and(['mustRestart', 'mustBackOff', 'hasFailedToStart']),
          target: 'startFailed',
          actions: 'scheduleRestart',
        },
        { guard: and(['mustRestart', 'mustBackOff']), target: 'backingOff', actions: 'scheduleRestart' },
        { guard: 'mustRestart', target: '#container.pending.restarting', actions: 'scheduleRestart' },
        { guard: 'hasSucceeded', target: 'succeeded' },
        { target: 'failed' },
      ],
    },
    startFailed: {
      description:
        'The container could not be started. The error is reported for some seconds before CrashLoopBackOff is.',
      tags: 'retrying',
      meta: {
        waitsFor: 'the end of its crash-loop back-off',
        until: 'restartAt',
        rules: ['C16', 'C7'],
        layout: { column: 2 },
      },
      entry: { type: 'reportLifecycle', params: { lifecycle: 'delayed' } },
      invoke: [
        after(FAILURE_DISPLAY_MS),
        // The remaining back-off may be shorter than `FAILURE_DISPLAY_MS`, because the exit may have been observed
        // late.
        after(remainingBackOff),
      ],
      on: {
        'timer.elapsed': { target: 'backingOff', actions: 'deductDisplayTime' },
        'container.update': updateTransitions,
        'sandbox.lost': [startInNextSandbox, { actions: 'recordLostSandbox', meta: { coverageGap: RARELY_TAKEN } }],
      },
    },
    backingOff: {
      description: 'CrashLoopBackOff: the container restarts after a delay that doubles each time, up to five minutes.',
      tags: 'retrying',
      meta: {
        waitsFor: 'the end of its crash-loop back-off',
        until: 'restartAt',
        rules: ['C7'],
        layout: { column: 1 },
      },
      entry: ['recordCrashLoop', { type: 'reportLifecycle', params: { lifecycle: 'delayed' } }, recordBackOffEvent],
      invoke: after(remainingBackOff),
      on: {
        'timer.elapsed': '#container.pending.restarting',
        'container.update': updateTransitions,
        'sandbox.lost': [startInNextSandbox, { actions: 'recordLostSandbox' }],
      },
    },
    awaitingReset: {
      description:
        'A restart rule restarts the whole pod in place after this exit. If the sandbox is lost meanwhile, the container restarts in the next one.',
      tags: 'waiting',
      meta: { waitsFor: 'all containers of its pod to restart', rules: ['C5'], region: 'reset' },
      entry: { type: 'reportLifecycle', params: { lifecycle: 'restartsAll' } },
    },
    succeeded: {
      description: 'The container has completed successfully and does not restart.',
      tags: ['done', 'rests'],
      meta: { layout: { column: 3 } },
      entry: { type: 'reportLifecycle', params: { lifecycle: 'succeeded' } },
      on: { 'container.start': runAgainTransition },
    },
    failed: {
      description: 'The container has failed, and its policy does not restart it.',
      tags: ['failed', 'rests'],
      meta: { layout: { column: 3 } },
      entry: { type: 'reportLifecycle', params: { lifecycle: 'failed' } },
      on: {
        'container.start': {
          ...runAgainTransition,
          meta: {
            coverageGap: {
              reason:
                'defensive: the pod of an init container that has failed permanently terminates; tested on its machine',
            },
          },
        },
      },
    },
  },
});
