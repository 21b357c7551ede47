/**
 * Determines the order in which pods terminate when the host shuts down, and how long each of them may take (C49).
 * Follows `pkg/kubelet/nodeshutdown/nodeshutdown_manager.go`.
 */
import type { Pod } from '../api/schema/pod.ts';

/**
 * The shutdown time of a group of pods. The group contains the pods whose priority is at least `priority` and below
 * that of the next group.
 */
export interface ShutdownPeriod {
  readonly priority: number;
  readonly graceSeconds: number;
}

/** A group of pods that terminate together. */
export interface ShutdownGroup extends ShutdownPeriod {
  readonly uids: readonly string[];
}

/**
 * Default priority of a pod that does not specify one (`DefaultPriorityWhenNoDefaultClassExists` in
 * `pkg/apis/scheduling/types.go`).
 */
const DEFAULT_PRIORITY = 0;
/** Lowest priority of critical pods (`SystemCriticalPriority`). */
const CRITICAL_PRIORITY = 2_000_000_000;

/**
 * Returns the periods of ordinary and of critical pods, which share the total time. Empty if no time is configured, or
 * if the time for critical pods exceeds the total.
 */
export function sharedPeriods(totalMs: number, criticalMs: number): readonly ShutdownPeriod[] {
  const ordinaryMs = totalMs - criticalMs;
  if (totalMs === 0 || ordinaryMs < 0) return [];
  return [
    { priority: DEFAULT_PRIORITY, graceSeconds: Math.trunc(ordinaryMs / 1_000) },
    { priority: CRITICAL_PRIORITY, graceSeconds: Math.trunc(criticalMs / 1_000) },
  ];
}

/** Returns the periods in ascending order of priority. */
export const sortPeriods = (periods: readonly ShutdownPeriod[]): readonly ShutdownPeriod[] =>
  periods.toSorted((first, second) => first.priority - second.priority);

/** Returns the total time of all groups in milliseconds, by which the node has to delay the shutdown. */
export const totalPeriodMs = (periods: readonly ShutdownPeriod[]): number =>
  periods.reduce((sum, { graceSeconds }) => sum + graceSeconds * 1_000, 0);

/** Distributes pods among sorted periods. Groups without pods are omitted, because there is nothing to wait for. */
export function groupPods(periods: readonly ShutdownPeriod[], pods: readonly Pod[]): readonly ShutdownGroup[] {
  const indexed = pods.map(({ metadata: { uid }, spec: { priority } }) => ({
    uid,
    index: groupIndex(periods, priority ?? DEFAULT_PRIORITY),
  }));
  return periods.flatMap((period, index) => {
    const uids = indexed.flatMap((pod) => (pod.index === index ? [pod.uid] : []));
    return uids.length === 0 ? [] : [{ ...period, uids }];
  });
}

/**
 * Returns the index of the last group whose priority does not exceed the pod's. A pod below the lowest priority belongs
 * to the first group.
 */
function groupIndex(periods: readonly ShutdownPeriod[], podPriority: number): number {
  const index = periods.findIndex(({ priority }) => priority >= podPriority);
  if (index === -1) return periods.length - 1;
  return index > 0 && periods[index]?.priority !== podPriority ? index - 1 : index;
}

/**
 * Returns the grace period of a pod during shutdown in seconds, i.e. the shorter of the group's time and the pod's own
 * grace period.
 */
export const shutdownGraceSeconds = ({ spec }: Pod, { graceSeconds }: ShutdownPeriod): number =>
  Math.min(graceSeconds, spec.terminationGracePeriodSeconds ?? graceSeconds);
