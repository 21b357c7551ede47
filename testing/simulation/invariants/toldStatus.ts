/** What was told of a pod, and what an API server makes of that. */
import type { PodStatus } from '../../../kubernetes/api/schema/status.ts';

/**
 * Whether a node would not take a pod: a new agent decides that again, and may take it (C24). A kubelet keeps the refusal
 * in the memory of its status manager alone, and the manifest of a static pod has no status that could tell the next one
 * (`rejectPod` and `HandlePodAdditions` in pkg/kubelet/kubelet.go, `generateAPIPodStatus` in kubelet_pods.go).
 */
export const wasRefused = ({ phase, message }: PodStatus): boolean =>
  phase === 'Failed' && message?.startsWith('Pod was rejected: ') === true;

export const classless = ({ qosClass: _, ...status }: PodStatus): PodStatus => status;

/** An API server keeps the class that a status does not tell (`PrepareForUpdate` in pkg/registry/core/pod/strategy.go). */
export const withClass = (now: PodStatus, { qosClass }: PodStatus = {}): PodStatus =>
  now.qosClass === undefined && qosClass !== undefined ? { ...now, qosClass } : now;
