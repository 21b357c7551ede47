import type { AllocationCounts } from '../../../kubernetes/cpus/allocatePod.ts';
import type { LocalStorageLimit } from '../../../kubernetes/eviction/localStorage.ts';
import type { Signal } from '../../../kubernetes/eviction/signals.ts';

/** A decision of a machine that the metrics count, because neither a status nor a recorded event contains it. */
export type MachineDecision = { readonly type: 'decision.counted' } & (
  | {
      /** The pod has to terminate to make room for a critical pod. */
      readonly decision: 'preempted';
      readonly uid: string;
      /** The first resource that is insufficient for the critical pod. */
      readonly resource: string;
    }
  /** A pod is evicted because of an eviction signal or an ephemeral-storage limit. */
  | { readonly decision: 'evicted'; readonly uid: string; readonly cause: Signal | LocalStorageLimit }
  /** A pod was chosen for eviction based on a measurement of `signal` that was `ageMs` old. */
  | { readonly decision: 'evictionStatsUsed'; readonly signal: Signal; readonly ageMs: number }
  /** The runtime had a running pod that no source contains. */
  | { readonly decision: 'orphanTerminated' }
  | { readonly decision: 'deferredResizeAccepted'; readonly trigger: ResizeTrigger }
  /** A resize was requested that the node can never admit. */
  | { readonly decision: 'resizeInfeasible'; readonly message: string }
  /** CPUs and memory were requested for those containers of a pod that need exclusive ones. */
  | { readonly decision: 'resourcesAllocated'; readonly counts: AllocationCounts }
);

/** Trigger of the reevaluation of a deferred resize (`pkg/kubelet/allocation/allocation_manager.go`). */
export type ResizeTrigger = 'pod_resized' | 'pod_updated' | 'pods_removed' | 'pod_terminated' | 'periodic_retry';
