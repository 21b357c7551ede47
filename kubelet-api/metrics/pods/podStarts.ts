/** What of a pod's start, or of its refusal, is told in numbers. */
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { isStaticPod } from '../../../kubernetes/api/staticPod.ts';
import type { FollowedPod } from './followedPods.ts';
import { initMs } from './statusChanges.ts';

/** How long pulls took together, in milliseconds: what overlaps counts once. */
export function pulledMs(pulls: FollowedPod['pulls']): number {
  let [sum, until] = [0, Number.NEGATIVE_INFINITY];
  for (const [from, to] of pulls.toSorted(([one], [other]) => one - other)) {
    sum += Math.max(0, to - Math.max(from, until));
    until = Math.max(until, to);
  }
  return sum;
}

/** Volumes of these kinds end with their pod (`isStatefulPod` in `pkg/kubelet/util/pod_startup_latency_tracker.go`). */
const PASSING = ['secret', 'configMap', 'downwardAPI', 'emptyDir', 'projected'];

export interface StartTimes {
  readonly totalMs: number;
  /** Absent where the pod has a volume that outlives it. */
  readonly sliMs?: number;
}

/** How long a pod took to start, by what the API server says of its creation; undefined of one that it has not made. */
export function startTimes(pod: Pod, { pulls }: Pick<FollowedPod, 'pulls'>, now: number): StartTimes | undefined {
  const createdAt = Date.parse(pod.metadata.creationTimestamp ?? '');
  if (isStaticPod(pod) || Number.isNaN(createdAt)) return undefined;
  const totalMs = Math.max(0, now - createdAt);
  const isPassing = (pod.spec.volumes ?? []).every((volume) => PASSING.some((kind) => Object.hasOwn(volume, kind)));
  const others = pulledMs(pulls) + initMs(pod.status ?? {});
  return { totalMs, ...(isPassing ? { sliMs: Math.max(0, totalMs - others) } : {}) };
}

/** Those that are told by their names (`admissionRejectionReasons` in `pkg/kubelet/kubelet.go`). */
const NAMED: readonly string[] = [
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

/** There may be any number of resources that a node runs out of. */
export function rejectionLabel(reason: string): string {
  if (NAMED.includes(reason)) return reason;
  return reason.startsWith('OutOf') ? 'OutOfExtendedResources' : 'Other';
}
