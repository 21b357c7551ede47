/** Handles the restart of a whole pod in place, which is triggered by a restart rule of one of its containers (C5). */
import { hasRunReason, restartsAllContainers } from '../../kubernetes/lifecycle/restart.ts';
import { type ContainerContext, nextAttempt, specOf } from './context.ts';

/**
 * Whether the exit of the terminated run restarts the whole pod. The exit of a run that was stopped by a command does
 * not.
 */
export const isWholePodRestart = (context: ContainerContext): boolean =>
  context.exitReaction === 'byPolicy' &&
  context.run !== undefined &&
  restartsAllContainers(specOf(context), context.run.exitCode);

const RESTARTING_ALL_CONTAINERS = {
  reason: 'RestartingAllContainers',
  message: 'The container is removed because RestartAllContainers in place',
} as const;

/**
 * Returns the status that the kubelet reports for a container that it removed to restart the whole pod. The container's
 * own exit is not reported (C5).
 */
export const restartRemovalStatus = ({
  run,
  earlierRun,
}: Pick<ContainerContext, 'run' | 'earlierRun'>): typeof RESTARTING_ALL_CONTAINERS | undefined =>
  run === undefined && hasRunReason(earlierRun?.reason, RESTARTING_ALL_CONTAINERS.reason)
    ? RESTARTING_ALL_CONTAINERS
    : undefined;

/**
 * Returns the context of a container's next attempt after its whole pod has been restarted in place. That attempt has
 * no back-off.
 */
export const resetAttemptContext = (context: ContainerContext): Partial<ContainerContext> => ({
  ...nextAttempt(context),
  ...(context.run || context.id
    ? { earlierRun: { containerId: '', exitCode: 137, ...RESTARTING_ALL_CONTAINERS } }
    : {}),
  crashDelayMs: undefined,
  stopBy: undefined,
  stopGraceSeconds: undefined,
});
