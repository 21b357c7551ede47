/** Registers the metrics of the CPU, memory and topology managers (`pkg/kubelet/metrics/metrics.go`). */
import type { AllocationCounts } from '../../../kubernetes/cpus/allocatePod.ts';
import type { NodeCounts } from '../../../machines/node/counts.ts';
import { alpha, type Counter, type Registry } from '../registry.ts';

const MILLIS_PER_CPU = 1_000;

const FAMILIES = {
  requests: alpha('kubelet_cpu_manager_pinning_requests_total', 'Containers that requested exclusive CPUs.'),
  errors: alpha('kubelet_cpu_manager_pinning_errors_total', 'Containers that got no exclusive CPUs.'),
  memoryRequests: alpha(
    'kubelet_memory_manager_pinning_requests_total',
    'Containers that requested memory of NUMA nodes of their own.',
  ),
  memoryErrors: alpha('kubelet_memory_manager_pinning_errors_total', 'Containers that got no memory of their own.'),
  topologyRequests: alpha(
    'kubelet_topology_manager_admission_requests_total',
    'Pods for which CPUs, memory and NUMA nodes were chosen.',
  ),
  topologyErrors: alpha(
    'kubelet_topology_manager_admission_errors_total',
    'Pods that were refused because their resources are not on the required NUMA nodes, or could not be allocated.',
  ),
  aligned: alpha(
    'kubelet_container_aligned_compute_resources_count',
    'Containers, or pods, whose resources are aligned at a boundary of the hardware.',
    ['scope', 'boundary'],
  ),
  failures: alpha(
    'kubelet_container_aligned_compute_resources_failure_count',
    'Containers, or pods, whose resources could not be aligned at a boundary of the hardware.',
    ['scope', 'boundary'],
  ),
};

/** The policies that determine which series exist from the start. */
export interface ManagerPolicies {
  /** Whether containers can get exclusive CPUs. */
  readonly assignsCpus: boolean;
  /** Whether the topology manager has a policy other than none. */
  readonly choosesNumaNodes: boolean;
}

export interface CpuMetrics {
  /** Called after CPUs and memory have been allocated to a pod, or after the pod has been refused because of them. */
  readonly allocated: (counts: AllocationCounts) => void;
  /** Updates the gauges on each scrape. */
  readonly update: (counts: Pick<NodeCounts, 'cpus'>) => void;
}

/**
 * Registers the metrics. All series that the policies can increment exist from the start (`initializeMetrics` in
 * `pkg/kubelet/cm/cpumanager/policy_static.go` and `pkg/kubelet/cm/topologymanager/topology_manager.go`).
 */
export function registerCpuMetrics(registry: Registry, policies?: ManagerPolicies): CpuMetrics {
  const pinningRequestsCounter = registry.counter(FAMILIES.requests);
  const pinningErrorsCounter = registry.counter(FAMILIES.errors);
  const memoryRequestsCounter = registry.counter(FAMILIES.memoryRequests);
  const memoryErrorsCounter = registry.counter(FAMILIES.memoryErrors);
  const topologyRequests = registry.counter(FAMILIES.topologyRequests);
  const topologyErrors = registry.counter(FAMILIES.topologyErrors);
  const alignedCounter = registry.counter(FAMILIES.aligned);
  const alignmentFailuresCounter = registry.counter(FAMILIES.failures);
  for (const counter of [alignedCounter, alignmentFailuresCounter]) {
    if (policies?.assignsCpus) counter.add(['container', 'physical_cpu'], 0);
    if (policies?.choosesNumaNodes) for (const scope of ['container', 'pod']) counter.add([scope, 'numa_node'], 0);
  }
  if (policies?.assignsCpus) alignedCounter.add(['container', 'uncore_cache'], 0);
  const sharedPoolGauge = registry.gauge(
    alpha('kubelet_cpu_manager_shared_pool_size_millicores', 'CPUs that can become exclusive, in millicores.'),
  );
  const exclusiveCpusGauge = registry.gauge(
    alpha('kubelet_cpu_manager_exclusive_cpu_allocation_count', 'Exclusive CPUs of containers.'),
  );
  const exclusiveCpusByNumaGauge = registry.gauge(
    alpha('kubelet_cpu_manager_allocation_per_numa', 'Exclusive CPUs of containers by NUMA node.', ['numa_node']),
  );
  return {
    allocated: (counts) => {
      const scope = counts.isPerPod ? 'pod' : 'container';
      pinningRequestsCounter.add([], counts.pinningRequests);
      pinningErrorsCounter.add([], counts.pinningErrors);
      memoryRequestsCounter.add([], counts.memoryPinningRequests);
      memoryErrorsCounter.add([], counts.memoryPinningErrors);
      topologyRequests.add([], 1);
      topologyErrors.add([], counts.topologyErrors);
      addPositive(alignedCounter, ['container', 'physical_cpu'], counts.physicalCpuAligned);
      addPositive(alignedCounter, ['container', 'uncore_cache'], counts.uncoreCacheAligned);
      addPositive(alignedCounter, [scope, 'numa_node'], counts.numaAligned);
      addPositive(alignmentFailuresCounter, ['container', 'physical_cpu'], counts.physicalCpuFailures);
      addPositive(alignmentFailuresCounter, [scope, 'numa_node'], counts.numaFailures);
    },
    update: ({ cpus }) => {
      if (cpus === undefined) return;
      sharedPoolGauge.set([], cpus.available * MILLIS_PER_CPU);
      exclusiveCpusGauge.set([], cpus.exclusive);
      exclusiveCpusByNumaGauge.clear();
      for (const [node, count] of cpus.exclusiveByNode) exclusiveCpusByNumaGauge.set([String(node)], count);
    },
  };
}

/** Adds an amount to a counter. Skips 0, so that no series is created for it. */
function addPositive(counter: Counter, labels: readonly string[], amount: number): void {
  if (amount > 0) counter.add(labels, amount);
}
