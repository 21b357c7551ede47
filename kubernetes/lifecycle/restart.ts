import type { Container } from '../api/schema/container.ts';
import type { Pod } from '../api/schema/pod.ts';
import type { ContainerRole } from '../status/view.ts';

/**
 * Input of a restart decision. `run` is the last run, or undefined if the container has not run. Its exit code is
 * undefined if the code is unknown or the run never started.
 */
export interface RestartInput {
  readonly pod: Pod;
  readonly container: Container;
  readonly role: ContainerRole;
  readonly run?: { readonly exitCode?: number; readonly reason?: string };
  /** Whether the pod is being deleted or terminated. */
  readonly isPodTerminating: boolean;
}

/**
 * Whether a run has failed. A run of an init container that ran out of memory is treated as failed regardless of its
 * exit code (C3).
 */
export const hasFailed = (role: ContainerRole, { exitCode, reason }: { exitCode?: number; reason?: string }): boolean =>
  exitCode !== 0 || (role === 'init' && hasRunReason(reason, 'OOMKilled'));

/** Whether to start or restart a container that is not running (C5). */
export function shouldRestart({ pod, container, role, run, isPodTerminating }: RestartInput): boolean {
  if (isPodTerminating) return false;
  if (run === undefined) return true;
  if (role === 'ephemeral') return false;
  const { exitCode } = run;
  if (exitCode === undefined || role === 'sidecar') return true;
  // A successful init container never restarts, so Always means the same as OnFailure.
  if (role === 'init' && !hasFailed(role, run)) return false;
  return allowsRestart(pod, container, { exitCode, hasFailed: hasFailed(role, run) });
}

/**
 * Whether the restart rules or the restart policy allow another run after an exit, regardless of the container's role.
 */
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
 * Whether a container that was reported as terminated may be reported in a different state (C5). An API server rejects
 * that change unless the container could have restarted on its own (`ValidateContainerStateTransition`), so the kubelet
 * does not report it.
 */
export function mayLeaveTerminated(
  { pod, container, role }: Omit<RestartInput, 'run' | 'isPodTerminating'>,
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

/** Reasons of terminated runs that affect the agent's decisions. The runtime also reports other reasons. */
export type RunReason =
  /** The container ran out of memory. */
  | 'OOMKilled'
  /** The runtime could not start the container. */
  | 'StartError'
  | 'ContainerCannotRun'
  /** The container was removed because all containers of its pod are being restarted. */
  | 'RestartingAllContainers';

/** Whether the reason of a run is one of `expected`. The runtime sets the reason, so it can be any string. */
export const hasRunReason = (reason: string | undefined, ...expected: RunReason[]): boolean =>
  expected.some((each) => each === reason);

/** Whether a run with this reason never had a process, in which case it has no output either. */
export const hasNeverStarted = (reason: string): boolean => hasRunReason(reason, 'StartError', 'ContainerCannotRun');
