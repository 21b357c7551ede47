import type { Container } from '../api/schema/container.ts';
import type { Pod } from '../api/schema/pod.ts';
import type { ContainerRole } from '../status/view.ts';

/** What a restart is decided from; `run` is the last run, without an exit code when it is unknown or never started. */
export interface RestartInput {
  readonly pod: Pod;
  readonly container: Container;
  readonly role: ContainerRole;
  readonly run?: { readonly exitCode?: number; readonly reason?: string };
  /** The pod is being deleted or terminated. */
  readonly podEnding: boolean;
}

/** Whether a run has failed. An init container that was killed for want of memory has, whatever its exit code (C3). */
export const hasFailed = (role: ContainerRole, { exitCode, reason }: { exitCode?: number; reason?: string }): boolean =>
  exitCode !== 0 || (role === 'init' && isEndedFor(reason, 'OOMKilled'));

/** Whether a container that does not run is to be started, for the first time or again (C5). */
export function shouldRestart({ pod, container, role, run, podEnding }: RestartInput): boolean {
  if (podEnding) return false;
  if (run === undefined) return true;
  if (role === 'ephemeral') return false;
  const { exitCode } = run;
  if (exitCode === undefined || role === 'sidecar') return true;
  // An init container's success is for good: Always means as much as OnFailure there.
  if (role === 'init' && !hasFailed(role, run)) return false;
  return allowsRestart(pod, container, { exitCode, hasFailed: hasFailed(role, run) });
}

/** Whether the policies and rules let it run again after an exit code, whatever it is for. */
function allowsRestart(
  { spec }: Pod,
  container: Container,
  end: { readonly exitCode: number; readonly hasFailed: boolean },
): boolean {
  if (matchingRule(container, end.exitCode) !== undefined) return true;
  const policy = container.restartPolicy ?? spec.restartPolicy ?? 'Always';
  return policy === 'Always' || (policy === 'OnFailure' && end.hasFailed);
}

/**
 * Whether a container that was reported as terminated may be reported otherwise: an API server refuses that where it could
 * not have restarted by itself (`ValidateContainerStateTransition`), as a kubelet does before (C5).
 */
export function mayLeaveTerminated(
  { pod, container, role }: Omit<RestartInput, 'run' | 'podEnding'>,
  exitCode: number,
) {
  if (role === 'ephemeral') return false;
  return couldRestartAll(pod) || allowsRestart(pod, container, { exitCode, hasFailed: exitCode !== 0 });
}

/** Whether an end of this container restarts all containers of its pod in place, also init containers that were done. */
export const restartsAll = (container: Container, exitCode: number): boolean =>
  matchingRule(container, exitCode)?.action === 'RestartAllContainers';

/** Whether the end of any of its containers may restart them all. */
export const couldRestartAll = ({ spec }: Pod): boolean =>
  [...(spec.initContainers ?? []), ...spec.containers].some(({ restartPolicyRules = [] }) =>
    restartPolicyRules.some(({ action }) => action === 'RestartAllContainers'),
  );

/** The first rule that speaks of an exit code. */
function matchingRule({ restartPolicyRules = [] }: Container, exitCode: number) {
  return restartPolicyRules.find(({ exitCodes }) => {
    const listed = exitCodes?.values?.includes(exitCode) ?? false;
    return exitCodes !== undefined && listed === (exitCodes.operator === 'In');
  });
}

/** The reasons of ended runs by which something is decided; of all others the runtime knows. */
export type RunReason =
  /** It was killed for want of memory. */
  | 'OOMKilled'
  /** The runtime refused its start. */
  | 'StartError'
  | 'ContainerCannotRun'
  /** It was removed for its whole pod to restart. */
  | 'RestartingAllContainers';

/** Whether the reason of a run, which may be the runtime's own, is one of these. */
export const isEndedFor = (reason: string | undefined, ...known: RunReason[]): boolean =>
  known.some((each) => each === reason);

/** Whether a run that ended with this reason never had a process of its own, so that nothing was said by it. */
export const neverBegan = (reason: string): boolean => isEndedFor(reason, 'StartError', 'ContainerCannotRun');
