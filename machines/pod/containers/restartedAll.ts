/**
 * Detects, after a restart of the agent, that all containers have to restart in place (C5). The kubelet removes all
 * containers before it starts any of them, and removes the container whose exit caused the restart last
 * (`getContainersToReset` in pkg/kubelet/kuberuntime/kuberuntime_manager.go), so this container never coexists with
 * newer ones. This agent retains the old containers for their logs, so newer containers prove that the exit has been
 * handled.
 */
import { containersOf } from '../../../kubernetes/api/pods/containers.ts';
import type { ObservedContainer } from '../../../kubernetes/lifecycle/observed.ts';
import { restartsAllContainers } from '../../../kubernetes/lifecycle/restart.ts';
import { mayRun, type PodContext, runsOf } from '../context.ts';

/** Returns the last run of each container that restarts with its pod, if the runtime has any. */
function lastRuns({ allocated, observed }: PodContext) {
  return containersOf(allocated.spec).flatMap(({ container, role }) => {
    const [shown] = runsOf(observed, container.name);
    return shown === undefined || role === 'ephemeral' ? [] : [{ container, shown }];
  });
}

/** Returns the container whose exit restarts all containers, if there is one (`ShouldAllContainersRestart`). */
export const podRestartingExit = (context: PodContext): ObservedContainer | undefined =>
  lastRuns(context).find(
    ({ container, shown: { exitCode } }) => exitCode !== undefined && restartsAllContainers(container, exitCode),
  )?.shown;

/**
 * Returns the exit that restarts all containers (`cause`), the last runs of containers created before that exit
 * (`before`), and whether any container was created after it (`isHandled`). Returns undefined if there is no such exit.
 */
function wholePodRestart(context: PodContext) {
  const runs = lastRuns(context);
  const cause = podRestartingExit(context);
  if (cause === undefined) return undefined;
  const isBeforeRestart = (observedRun: ObservedContainer) =>
    observedRun.sandboxId === cause.sandboxId
      ? observedRun.createdAt <= (cause.finishedAt ?? Infinity)
      : observedRun.sandboxId !== context.sandbox?.id;
  const earlierRuns = runs.flatMap(({ shown }) => (isBeforeRestart(shown) ? [shown] : []));
  return { cause, before: earlierRuns, isHandled: earlierRuns.length < runs.length };
}

/**
 * Returns the containers that have to be reset, because they were created before an exit that restarts all containers.
 * Returns an empty list while any of the containers to be reset may be running.
 */
export function containersToReset(context: PodContext): string[] {
  const { cause, before, isHandled } = wholePodRestart(context) ?? { before: [] };
  const hasRestartStarted = isHandled || cause?.sandboxId !== context.sandbox?.id;
  return hasRestartStarted && !before.some(mayRun) ? before.map(({ name }) => name) : [];
}

/**
 * Returns the containers that have to restart because of an exit that has not been handled yet, in a sandbox that has
 * to be replaced. Containers that are still running are stopped immediately.
 */
export function containersStoppedByRestart(context: PodContext): string[] {
  const { before, isHandled } = wholePodRestart(context) ?? { before: [] };
  return isHandled ? [] : before.map(({ name }) => name);
}
