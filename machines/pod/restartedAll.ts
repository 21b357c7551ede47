/**
 * What a new agent finds of a restart of all containers in place (C5). A kubelet removes all of them before it starts any, the
 * one whose exit called for it last (`getContainersToReset` in pkg/kubelet/kuberuntime/kuberuntime_manager.go), so that
 * this exit is never there beside what has started since. Here they are kept for their logs: that it has been heeded shows in
 * what was made after it.
 */
import { containersOf } from '../../kubernetes/api/containers.ts';
import type { ObservedContainer } from '../../kubernetes/lifecycle/observed.ts';
import { restartsAll } from '../../kubernetes/lifecycle/restart.ts';
import { mayRun, type PodContext, runsOf } from './context.ts';

/** The last run of each container that restarts with its pod, of those that the runtime has. */
function lastRuns({ allocated, observed }: PodContext) {
  return containersOf(allocated.spec).flatMap(({ container, role }) => {
    const [shown] = runsOf(observed, container.name);
    return shown === undefined || role === 'ephemeral' ? [] : [{ container, shown }];
  });
}

/** The exit that restarts all, if the last run of one of them has ended so (`ShouldAllContainersRestart`). */
export const exitThatRestartsAll = (context: PodContext): ObservedContainer | undefined =>
  lastRuns(context).find(
    ({ container, shown: { exitCode } }) => exitCode !== undefined && restartsAll(container, exitCode),
  )?.shown;

/** That exit, the last runs that were made before it, and whether others were made since. */
function restartOfAll(context: PodContext) {
  const runs = lastRuns(context);
  const cause = exitThatRestartsAll(context);
  if (cause === undefined) return undefined;
  const isBefore = (shown: ObservedContainer) =>
    shown.sandboxId === cause.sandboxId
      ? shown.createdAt <= (cause.finishedAt ?? Infinity)
      : shown.sandboxId !== context.sandbox?.id;
  const before = runs.flatMap(({ shown }) => (isBefore(shown) ? [shown] : []));
  return { cause, before, isHeeded: before.length < runs.length };
}

/** The containers that were made before an exit that restarts all, and that are to start anew: none of them runs any more. */
export function beforeRestartOfAll(context: PodContext): string[] {
  const { cause, before, isHeeded } = restartOfAll(context) ?? { before: [] };
  const isBegun = isHeeded || cause?.sandboxId !== context.sandbox?.id;
  return isBegun && !before.some(mayRun) ? before.map(({ name }) => name) : [];
}

/** Those that an exit that nobody has heeded restarts, in a sandbox that has to go: some may run yet, and end at once. */
export function endedByRestartOfAll(context: PodContext): string[] {
  const { before, isHeeded } = restartOfAll(context) ?? { before: [] };
  return isHeeded ? [] : before.map(({ name }) => name);
}
