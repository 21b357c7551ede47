/** Measures CRI calls and relists (`pkg/kubelet/kuberuntime/instrumented_services.go`). */
import type { RelistStats } from '../../../actors/runtime/relistRequests.ts';
import type { CriOperation, TimedCall } from '../../../cri/client/timedCri.ts';
import { DEFAULT_BUCKETS, RUNTIME_BUCKETS } from '../buckets.ts';
import { alpha, type Registry } from '../registry.ts';

const OPERATION_LABELS = ['operation_type'];
const HANDLER_LABELS = ['runtime_handler'];

/** Creates the listener for CRI calls. */
export function registerRuntimeCallMetrics(registry: Registry): (call: TimedCall) => void {
  const operationsCounter = registry.counter(
    alpha('kubelet_runtime_operations_total', 'Calls to the container runtime, by operation.', OPERATION_LABELS),
  );
  const errors = registry.counter(
    alpha(
      'kubelet_runtime_operations_errors_total',
      'Failed calls to the container runtime, by operation.',
      OPERATION_LABELS,
    ),
  );
  const duration = registry.histogram(
    alpha(
      'kubelet_runtime_operations_duration_seconds',
      'Duration of calls to the container runtime, by operation.',
      OPERATION_LABELS,
    ),
    RUNTIME_BUCKETS,
  );
  const recordSandboxCall = registerSandboxCallMetrics(registry);
  return (call) => {
    const labels = getLabels(call.operation);
    operationsCounter.add(labels);
    if (call.hasFailed) errors.add(labels);
    duration.observe(labels, call.ms / 1_000);
    if (call.operation === 'runPodSandbox') recordSandboxCall(call);
  };
}

function registerSandboxCallMetrics(registry: Registry): (call: TimedCall) => void {
  const duration = registry.histogram(
    alpha(
      'kubelet_run_podsandbox_duration_seconds',
      'Duration of requests to run a sandbox, by runtime handler.',
      HANDLER_LABELS,
    ),
    DEFAULT_BUCKETS,
  );
  const errors = registry.counter(
    alpha(
      'kubelet_run_podsandbox_errors_total',
      'Failed requests to run a sandbox, by runtime handler.',
      HANDLER_LABELS,
    ),
  );
  return ({ request, ms, hasFailed }) => {
    // Safe cast: the operation is `runPodSandbox`, whose request has a runtime handler.
    const { runtimeHandler } = request as { readonly runtimeHandler: string };
    duration.observe([runtimeHandler], ms / 1_000);
    if (hasFailed) errors.add([runtimeHandler]);
  };
}

const labelCache = new Map<CriOperation, readonly string[]>();

function getLabels(operation: CriOperation): readonly string[] {
  const labels = labelCache.get(operation) ?? [operationName(operation)];
  labelCache.set(operation, labels);
  return labels;
}

/** Returns the kubelet's name for a call, e.g. `list_podsandbox` for `listPodSandbox`. */
export function operationName(operation: CriOperation): string {
  if (operation === 'updateContainerResources') return 'update_container';
  const joinedOperation = operation.replace('odSandbox', 'odsandbox');
  return joinedOperation.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Creates the listener for relists. */
export function registerRelistMetrics(registry: Registry): (relist: RelistStats) => void {
  const duration = registry.histogram(
    alpha('kubelet_pleg_relist_duration_seconds', 'Duration of relists of the container runtime.'),
    DEFAULT_BUCKETS,
  );
  const intervalHistogram = registry.histogram(
    alpha('kubelet_pleg_relist_interval_seconds', 'Time between two relists of the container runtime.'),
    DEFAULT_BUCKETS,
  );
  const lastSeenGauge = registry.gauge(
    alpha('kubelet_pleg_last_seen_seconds', 'Time of the last successful relist, in seconds since the epoch.', []),
  );
  return ({ at, ms, sinceLastMs, hasResponded }) => {
    duration.observe([], ms / 1_000);
    if (sinceLastMs !== undefined) intervalHistogram.observe([], sinceLastMs / 1_000);
    if (hasResponded) lastSeenGauge.set([], Math.floor(at / 1_000));
  };
}
