import type { Pod } from '../api/schema/pod.ts';
import type { ObservedPod, ObservedSandbox } from './observed.ts';

export interface SandboxDecisionInput {
  readonly pod: Pod;
  /**
   * The pod's sandboxes and containers in the runtime, sorted from newest to oldest. Undefined if the runtime has none.
   */
  readonly observed?: Pick<ObservedPod, 'sandboxes' | 'containers'>;
  /** Whether any regular container of the pod must be started or restarted. */
  readonly hasContainersToStart: boolean;
  /** Whether an exit requires all containers to restart (C5), including those that normally run only once. */
  readonly restartsAll?: boolean;
}

/**
 * Decision about the pod's sandbox. `keep` retains it, `recreate` is the attempt number of the sandbox to create, and
 * `none` means that the pod no longer needs a sandbox.
 */
type SandboxDecision = 'keep' | 'none' | { readonly recreate: number; readonly reason: string };

/**
 * Decides whether the pod can use its current sandbox (C8). Properties that the runtime's list omits, such as
 * addresses, are assumed to be correct.
 */
export function sandboxDecision(input: SandboxDecisionInput): SandboxDecision {
  const { pod, observed, hasContainersToStart, restartsAll: mustRestartAll = false } = input;
  const { sandboxes = [], containers = [] } = observed ?? {};
  const newestSandbox = sandboxes.reduce<ObservedSandbox | undefined>(newerSandbox, undefined);
  const defect = findDefect(pod, sandboxes, newestSandbox);
  if (defect === undefined) return 'keep';
  // Like the kubelet, treat a container that was created but not started as having run. Without a sandbox, count only a
  // container that has actually run.
  const hasRun = containers.some(({ state }) => newestSandbox !== undefined || state !== 'created');
  const isCompleted = (pod.spec.restartPolicy === 'Never' && hasRun) || !hasContainersToStart;
  if (isCompleted && !mustRestartAll) return 'none';
  return { recreate: newestSandbox ? newestSandbox.attempt + 1 : 0, reason: defect };
}

function newerSandbox(newestSandbox: ObservedSandbox | undefined, next: ObservedSandbox): ObservedSandbox {
  return newestSandbox && newestSandbox.attempt >= next.attempt ? newestSandbox : next;
}

function findDefect(
  pod: Pod,
  sandboxes: readonly ObservedSandbox[],
  newestSandbox?: ObservedSandbox,
): string | undefined {
  if (!newestSandbox) return 'the pod has no sandbox yet';
  if (sandboxes.filter(({ state }) => state === 'ready').length > 1) return 'more than one sandbox is ready';
  if (newestSandbox.state !== 'ready') return 'the sandbox is not ready';
  const needsHostNetwork = pod.spec.hostNetwork === true;
  if (newestSandbox.hostNetwork !== undefined && newestSandbox.hostNetwork !== needsHostNetwork)
    return 'the network mode changed';
  if (!needsHostNetwork && newestSandbox.ips?.length === 0) return 'the sandbox has no address';
  return undefined;
}
