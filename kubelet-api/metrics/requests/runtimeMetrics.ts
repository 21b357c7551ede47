/** What is asked of the runtime, how long that takes, and how often it is listed (`pkg/kubelet/kuberuntime/instrumented_services.go`). */
import type { Relist } from '../../../actors/runtime/relist.ts';
import type { CriOperation, TimedCall } from '../../../cri/client/timedCri.ts';
import { OF_RUNTIME, USUAL } from '../buckets.ts';
import { alpha, type Registry } from '../registry.ts';

const OPERATION = ['operation_type'];
const HANDLER = ['runtime_handler'];

/** Told of each call. */
export function runtimeCalls(registry: Registry): (call: TimedCall) => void {
  const total = registry.counter(
    alpha('kubelet_runtime_operations_total', 'Calls to the container runtime, by operation.', OPERATION),
  );
  const errors = registry.counter(
    alpha('kubelet_runtime_operations_errors_total', 'Failed calls to the container runtime, by operation.', OPERATION),
  );
  const duration = registry.histogram(
    alpha(
      'kubelet_runtime_operations_duration_seconds',
      'How long calls to the container runtime take, by operation.',
      OPERATION,
    ),
    OF_RUNTIME,
  );
  const sandboxes = sandboxCalls(registry);
  return (call) => {
    const labels = labelsOf(call.operation);
    total.add(labels);
    if (call.hasFailed) errors.add(labels);
    duration.observe(labels, call.ms / 1_000);
    if (call.operation === 'runPodSandbox') sandboxes(call);
  };
}

function sandboxCalls(registry: Registry): (call: TimedCall) => void {
  const duration = registry.histogram(
    alpha('kubelet_run_podsandbox_duration_seconds', 'How long sandboxes take to run, by runtime handler.', HANDLER),
    USUAL,
  );
  const errors = registry.counter(
    alpha('kubelet_run_podsandbox_errors_total', 'Sandboxes that could not be run, by runtime handler.', HANDLER),
  );
  return ({ request, ms, hasFailed }) => {
    // Of a request to run a sandbox.
    const { runtimeHandler } = request as { readonly runtimeHandler: string };
    duration.observe([runtimeHandler], ms / 1_000);
    if (hasFailed) errors.add([runtimeHandler]);
  };
}

const known = new Map<CriOperation, readonly string[]>();

function labelsOf(operation: CriOperation): readonly string[] {
  const labels = known.get(operation) ?? [operationName(operation)];
  known.set(operation, labels);
  return labels;
}

/** The kubelet's name of a call: `list_podsandbox` of `listPodSandbox`. */
export function operationName(operation: CriOperation): string {
  if (operation === 'updateContainerResources') return 'update_container';
  const asOneWord = operation.replace('odSandbox', 'odsandbox');
  return asOneWord.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Told of each list of what the runtime has. */
export function relists(registry: Registry): (relist: Relist) => void {
  const duration = registry.histogram(
    alpha('kubelet_pleg_relist_duration_seconds', 'How long it takes to list what the runtime has.'),
    USUAL,
  );
  const interval = registry.histogram(
    alpha('kubelet_pleg_relist_interval_seconds', 'The time from one list of what the runtime has to the next.'),
    USUAL,
  );
  const last = registry.gauge(
    alpha('kubelet_pleg_last_seen_seconds', 'When the runtime was last listed, in seconds since the epoch.', []),
  );
  return ({ at, ms, sinceLastMs, isAnswered }) => {
    duration.observe([], ms / 1_000);
    if (sinceLastMs !== undefined) interval.observe([], sinceLastMs / 1_000);
    if (isAnswered) last.set([], Math.floor(at / 1_000));
  };
}
