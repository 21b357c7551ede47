/** Helpers for statuses and how an API server stores them. */
import type { PodStatus } from '../../../../kubernetes/api/schema/status.ts';

/**
 * Whether a pod was rejected. A new agent decides again and may admit it (C24). A kubelet keeps the rejection only in
 * the memory of its status manager, and the manifest of a static pod has no status from which the next one could learn
 * it (`rejectPod` and `HandlePodAdditions` in pkg/kubelet/kubelet.go, `generateAPIPodStatus` in kubelet_pods.go).
 */
export const wasRejected = ({ phase, message }: PodStatus): boolean =>
  phase === 'Failed' && message?.startsWith('Pod was rejected: ') === true;

export const withoutQosClass = ({ qosClass: _, ...status }: PodStatus): PodStatus => status;

/**
 * An API server preserves the QoS class if a status has none (`PrepareForUpdate` in pkg/registry/core/pod/strategy.go).
 */
export const withQosClass = (now: PodStatus, { qosClass }: PodStatus = {}): PodStatus =>
  now.qosClass === undefined && qosClass !== undefined ? { ...now, qosClass } : now;
