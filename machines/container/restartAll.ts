/** A container whose whole pod restarts in place, by a restart rule of one of its containers (C5). */
import { hasRunReason, restartsAll } from '../../kubernetes/lifecycle/restart.ts';
import { type ContainerContext, nextAttempt, specOf } from './context.ts';

/** Whether its last end restarts its whole pod; an end that somebody asked for is no reason. */
export const isRestartOfAll = (context: ContainerContext): boolean =>
  ['byPolicy', 'asFailed'].includes(context.onEnd) &&
  context.run !== undefined &&
  restartsAll(specOf(context), context.run.exitCode);

const RESTARTING_ALL = {
  reason: 'RestartingAllContainers',
  message: 'The container is removed because RestartAllContainers in place',
} as const;

/** What a kubelet tells of a container that it has removed to restart the whole pod: nothing of how it had ended (C5). */
export const removedForRestart = ({
  run,
  earlierRun,
}: Pick<ContainerContext, 'run' | 'earlierRun'>): typeof RESTARTING_ALL | undefined =>
  run === undefined && hasRunReason(earlierRun?.reason, RESTARTING_ALL.reason) ? RESTARTING_ALL : undefined;

/** The next attempt of a container whose whole pod restarts: at once when its turn has come. */
export const afterReset = (context: ContainerContext): Partial<ContainerContext> => ({
  ...nextAttempt(context),
  ...(context.run || context.id ? { earlierRun: { containerId: '', exitCode: 137, ...RESTARTING_ALL } } : {}),
  crashDelayMs: undefined,
  stopBy: undefined,
  stopWithin: undefined,
});
