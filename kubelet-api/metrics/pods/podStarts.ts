/** Computes the durations of pod starts and the labels of rejections. */

import { isStaticPod } from '../../../kubernetes/api/pods/staticPod.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { initMs } from './statusChanges.ts';
import type { TrackedPod } from './trackedPods.ts';

/** Returns the total time spent on pulls, in milliseconds. Periods in which pulls overlap are counted only once. */
export function sumPullMs(pulls: TrackedPod['pulls']): number {
  let [totalMs, until] = [0, Number.NEGATIVE_INFINITY];
  for (const [from, to] of pulls.toSorted(([left], [right]) => left - right)) {
    totalMs += Math.max(0, to - Math.max(from, until));
    until = Math.max(until, to);
  }
  return totalMs;
}

/**
 * Types of volumes that do not outlive their pod (`isStatefulPod` in
 * `pkg/kubelet/util/pod_startup_latency_tracker.go`).
 */
const EPHEMERAL_VOLUMES = ['secret', 'configMap', 'downwardAPI', 'emptyDir', 'projected'];

export interface StartTimes {
  readonly totalMs: number;
  /**
   * Duration without image pulls and init containers, for the service level indicator. Undefined if the pod has a
   * volume that outlives it.
   */
  readonly sliMs?: number;
}

/**
 * Measures a pod's start from the pod's creation timestamp. Returns undefined for static pods, which are not created
 * through the API server.
 */
export function startTimes(pod: Pod, { pulls }: Pick<TrackedPod, 'pulls'>, now: number): StartTimes | undefined {
  const createdAt = Date.parse(pod.metadata.creationTimestamp ?? '');
  if (isStaticPod(pod) || Number.isNaN(createdAt)) return undefined;
  const totalMs = Math.max(0, now - createdAt);
  const hasOnlyEphemeralVolumes = (pod.spec.volumes ?? []).every((volume) =>
    EPHEMERAL_VOLUMES.some((kind) => Object.hasOwn(volume, kind)),
  );
  const excludedMs = sumPullMs(pulls) + initMs(pod.status ?? {});
  return { totalMs, ...(hasOnlyEphemeralVolumes ? { sliMs: Math.max(0, totalMs - excludedMs) } : {}) };
}

/** Rejection reasons that are used as labels (`admissionRejectionReasons` in `pkg/kubelet/kubelet.go`). */
const LABELED_REASONS: readonly string[] = [
  'AppArmor',
  'PodOSSelectorNodeLabelDoesNotMatch',
  'PodOSNotSupported',
  'InvalidNodeInfo',
  'UnknownReason',
  'InitContainerRestartPolicyForbidden',
  'SupplementalGroupsPolicyNotSupported',
  'UnexpectedAdmissionError',
  'UnexpectedPredicateFailureType',
  'OutOfcpu',
  'OutOfmemory',
  'OutOfephemeral-storage',
  'OutOfpods',
  'PodLevelResourcesNotSupported',
  'PodFeatureUnsupported',
  "node(s) had taints that the pod didn't tolerate",
  'Evicted',
  'SysctlForbidden',
  'TopologyAffinityError',
  'NodeShutdown',
  'VolumeAttachmentLimitExceeded',
];

/**
 * Returns the label for a rejection reason. Reasons that are not in `LABELED_REASONS` are grouped, because they can
 * contain the names of extended resources, which are arbitrary.
 */
export function rejectionLabel(reason: string): string {
  if (LABELED_REASONS.includes(reason)) return reason;
  return reason.startsWith('OutOf') ? 'OutOfExtendedResources' : 'Other';
}
