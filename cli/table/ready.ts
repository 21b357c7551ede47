import type { Pod } from '../../pod/api/schema/pod.ts';
import type { ContainerStatus } from '../../pod/api/schema/status.ts';

/** How far the node is on its way to have all pods running that are expected to. */
export interface NodeReadiness {
  /** Pods that are Ready or have Succeeded. */
  readonly running: number;
  /** Pods that are expected to become so. */
  readonly expected: number;
}

/** A container that failed before is trusted again after running for this long: the first delay of its back-off. */
const TRUSTED_AFTER_MS = 10_000;

/** In back-off, about to be, or restarted so shortly after a failure that the next one is likely. */
function isFailing({ state, lastState }: ContainerStatus, now: number): boolean {
  if (state?.waiting?.reason === 'CrashLoopBackOff') return true;
  if (state?.terminated) return state.terminated.exitCode !== 0;
  const failedBefore = (lastState?.terminated?.exitCode ?? 0) !== 0;
  if (!failedBefore || !state?.running?.startedAt) return failedBefore;
  return now - Date.parse(state.running.startedAt) < TRUSTED_AFTER_MS;
}

function isExpected({ metadata, status }: Pod, now: number): boolean {
  if (metadata.deletionTimestamp !== undefined || status?.phase === 'Failed') return false;
  const statuses = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  return !statuses.some((container) => isFailing(container, now));
}

function isRunning({ status }: Pod): boolean {
  if (status?.phase === 'Succeeded') return true;
  return (status?.conditions ?? []).some(({ type, status: value }) => type === 'Ready' && value === 'True');
}

/**
 * Counts the pods for the line "node ready". Expected is every pod but those that cannot become Ready by waiting:
 * pods being deleted, Failed pods, and pods with a container that keeps failing (in CrashLoopBackOff, or restarted
 * after a failure less than 10 s before `now`). A Succeeded pod is done, so it counts as running.
 */
export function nodeReadiness(pods: readonly Pod[], now: number): NodeReadiness {
  const expected = pods.filter((pod) => pod.status?.phase === 'Succeeded' || isExpected(pod, now));
  return { running: expected.filter(isRunning).length, expected: expected.length };
}

/** Whether all pods that are expected to run do, and there is one at all. */
function isNodeReady({ running, expected }: NodeReadiness): boolean {
  return expected > 0 && running === expected;
}

/** How long the numbers must stay as they are: a container that fails at its start has done so by then. */
const SETTLED_AFTER_MS = 1000;

/** Says of each count whether the node is ready and its numbers have stood still for a second; `now` in milliseconds. */
export function settledReadiness(): (readiness: NodeReadiness, now: number) => boolean {
  let counted: (NodeReadiness & { readonly since: number }) | undefined;
  return (readiness, now) => {
    const { running, expected } = readiness;
    if (!isNodeReady(readiness)) counted = undefined;
    else if (counted?.running !== running || counted.expected !== expected) counted = { ...readiness, since: now };
    return counted !== undefined && now - counted.since >= SETTLED_AFTER_MS;
  };
}
