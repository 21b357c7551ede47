import type { Container } from '../api/schema/container.ts';
import type { Pod } from '../api/schema/pod.ts';
import type { ContainerRole } from '../status/view.ts';

/**
 * Input of a restart decision. `run` is the last run, whose exit code is undefined if it is unknown or the run never
 * started. `run` is undefined if the container has not run.
 */
export interface RestartInput {
  readonly pod: Pod;
  readonly container: Container;
  readonly role: ContainerRole;
  readonly run?: { readonly exitCode?: number; readonly reason?: string };
  /** Whether the pod is being deleted or terminated. */
  readonly podEnding: boolean;
}

/** Whether a run has failed. An init container that ran out of memory has failed regardless of its exit code (C3). */
export const hasFailed = (role: ContainerRole, { exitCode, reason }: { exitCode?: number; reason?: string }): boolean =>
  exitCode !== 0 || (role === 'init' && hasRunReason(reason, 'OOMKilled'));

/** Whether to start a container that is not running, for the first time or again (C5). */
export function shouldRestart({ pod, container, role, run, podEnding }: RestartInput): boolean {
  if (podEnding) return false;
  if (run === undefined) return true;
  if (role === 'ephemeral') return false;
  const { exitCode } = run;
  if (exitCode === undefined || role === 'sidecar') return true;
  // A successful init container never restarts, so Always means the same as OnFailure.
  if (role === 'init' && !hasFailed(role, run)) return false;
  return allowsRestart(pod, container, { exitCode, hasFailed: hasFailed(role, run) });
}

/** Whether the restart rules and policies allow another run after an exit code, independent of the container's role. */
function allowsRestart(
  { spec }: Pod,
  container: Container,
  exit: { readonly exitCode: number; readonly hasFailed: boolean },
): boolean {
  if (matchingRule(container, exit.exitCode) !== undefined) return true;
  const policy = container.restartPolicy ?? spec.restartPolicy ?? 'Always';
  return policy === 'Always' || (policy === 'OnFailure' && exit.hasFailed);
}

/**
 * Whether a container that was reported as terminated may be reported in another state. An API server rejects this
 * unless the container could have restarted by itself (`ValidateContainerStateTransition`), so a kubelet does not
 * report it (C5).
 */
export function mayLeaveTerminated(
  { pod, container, role }: Omit<RestartInput, 'run' | 'podEnding'>,
  exitCode: number,
) {
  if (role === 'ephemeral') return false;
  return couldRestartAllContainers(pod) || allowsRestart(pod, container, { exitCode, hasFailed: exitCode !== 0 });
}

/** Whether this exit code restarts all containers of the pod in place, including completed init containers. */
export const restartsAllContainers = (container: Container, exitCode: number): boolean =>
  matchingRule(container, exitCode)?.action === 'RestartAllContainers';

/** Whether any container of the pod has a rule that can restart all containers. */
export const couldRestartAllContainers = ({ spec }: Pod): boolean =>
  [...(spec.initContainers ?? []), ...spec.containers].some(({ restartPolicyRules = [] }) =>
    restartPolicyRules.some(({ action }) => action === 'RestartAllContainers'),
  );

/** Returns the first restart rule that matches an exit code. */
function matchingRule({ restartPolicyRules = [] }: Container, exitCode: number) {
  return restartPolicyRules.find(({ exitCodes }) => {
    const isListed = exitCodes?.values?.includes(exitCode) ?? false;
    return exitCodes !== undefined && isListed === (exitCodes.operator === 'In');
  });
}

/** Reasons of completed runs on which this code depends. The runtime reports others, too. */
export type RunReason =
  /** The container ran out of memory. */
  | 'OOMKilled'
  /** The runtime could not start the container. */
  | 'StartError'
  | 'ContainerCannotRun'
  /** The container was removed because its whole pod restarts. */
  | 'RestartingAllContainers';

/** Whether the reason of a run, which the runtime sets, is one of `expected`. */
export const hasRunReason = (reason: string | undefined, ...expected: RunReason[]): boolean =>
  expected.some((each) => each === reason);

/** Whether a run with this reason never had a process, in which case it has no output. */
export const hasNeverStarted = (reason: string): boolean => hasRunReason(reason, 'StartError', 'ContainerCannotRun');
