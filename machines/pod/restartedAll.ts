/**
 * Detects, after a restart of the agent, a restart of all containers in place (C5). A kubelet removes all containers
 * before it starts any, and the one whose exit caused the restart last (`getContainersToReset` in
 * pkg/kubelet/kuberuntime/kuberuntime_manager.go), so the exit never exists beside newer containers. Here the
 * containers are retained for their logs, and the existence of newer containers proves that the exit has been handled.
 */
import { containersOf } from '../../kubernetes/api/containers.ts';
import type { ObservedContainer } from '../../kubernetes/lifecycle/observed.ts';
import { restartsAll } from '../../kubernetes/lifecycle/restart.ts';
import { mayRun, type PodContext, runsOf } from './context.ts';

/** Returns the last run of each container that restarts with its pod, if the runtime has any. */
function lastRuns({ allocated, observed }: PodContext) {
  return containersOf(allocated.spec).flatMap(({ container, role }) => {
    const [shown] = runsOf(observed, container.name);
    return shown === undefined || role === 'ephemeral' ? [] : [{ container, shown }];
  });
}

/** Returns the container whose exit restarts all containers, if there is one (`ShouldAllContainersRestart`). */
export const exitThatRestartsAll = (context: PodContext): ObservedContainer | undefined =>
  lastRuns(context).find(
    ({ container, shown: { exitCode } }) => exitCode !== undefined && restartsAll(container, exitCode),
  )?.shown;

/**
 * Returns the exit that restarts all containers, the last runs created before it, and whether any container was created
 * after it.
 */
function restartOfAll(context: PodContext) {
  const runs = lastRuns(context);
  const cause = exitThatRestartsAll(context);
  if (cause === undefined) return undefined;
  const isBefore = (shown: ObservedContainer) =>
    shown.sandboxId === cause.sandboxId
      ? shown.createdAt <= (cause.finishedAt ?? Infinity)
      : shown.sandboxId !== context.sandbox?.id;
  const before = runs.flatMap(({ shown }) => (isBefore(shown) ? [shown] : []));
  return { cause, before, isHandled: before.length < runs.length };
}

/**
 * Returns the containers that have to be reset, because they were created before an exit that restarts all. Returns an
 * empty list while any of them may be running.
 */
export function beforeRestartOfAll(context: PodContext): string[] {
  const { cause, before, isHandled } = restartOfAll(context) ?? { before: [] };
  const isBegun = isHandled || cause?.sandboxId !== context.sandbox?.id;
  return isBegun && !before.some(mayRun) ? before.map(({ name }) => name) : [];
}

/**
 * Returns the containers to be restarted because of an exit that has not been handled yet, in a sandbox that has to be
 * replaced. Some of them may still be running and are stopped at once.
 */
export function stoppedByRestartOfAll(context: PodContext): string[] {
  const { before, isHandled } = restartOfAll(context) ?? { before: [] };
  return isHandled ? [] : before.map(({ name }) => name);
}
