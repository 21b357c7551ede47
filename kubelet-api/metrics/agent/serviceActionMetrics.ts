/** Measures the actions that services report, e.g. opening an event stream or measuring a volume. */
import type { ServiceAction } from '../../../actors/serviceAction.ts';
import { CLAIM_BUCKETS, DEFAULT_BUCKETS } from '../buckets.ts';
import { alpha, type Registry } from '../registry.ts';

/** Creates the listener for service actions. */
export function registerServiceActionMetrics(registry: Registry): (action: ServiceAction) => void {
  const { opened, failed, latency } = registerEventStreamFamilies(registry);
  const volumeMeasurements = registry.histogram(
    alpha('kubelet_volume_metric_collection_duration_seconds', 'Time to measure the usage of a volume.', [
      'metric_source',
    ]),
    DEFAULT_BUCKETS,
  );
  const { checks, records, intents } = registerPullRecordFamilies(registry);
  const collectedImages = registry.counter(
    alpha('kubelet_image_garbage_collected_total', 'Unused images that were removed, by reason.', ['reason']),
  );
  const driverCalls = registry.histogram(
    alpha('dra_grpc_operations_duration_seconds', 'Duration of the calls to DRA drivers.', [
      'driver_name',
      'method_name',
      'grpc_status_code',
    ]),
    CLAIM_BUCKETS,
  );
  return (action) => {
    switch (action.action) {
      case 'eventStreamOpened':
        return opened.add([]);
      case 'eventStreamFailed':
        return failed.add([]);
      case 'runtimeEventReceived':
        return latency.observe([], action.latencyMs / 1_000);
      case 'volumeMeasured':
        // Use the label `du` for every volume, because each is a directory tree, which the kubelet measures like `du`
        // (`pkg/volume/util/fs/fs.go`).
        return volumeMeasurements.observe(['du'], action.ms / 1_000);
      case 'driverCalled':
        return driverCalls.observe([action.driver, action.method, action.code], action.ms / 1_000);
      case 'imageCollected':
        return collectedImages.add([action.reason]);
      case 'pullChecked':
        return checks.add([action.result]);
      case 'pullRecordsChanged':
        records.set([], action.records);
        intents.set([], action.intents);
    }
  };
}

/**
 * Registers the metric families of `pkg/kubelet/pleg/evented.go`. The kubelet reports values only if the feature gate
 * EventedPLEG is enabled.
 */
function registerEventStreamFamilies({ counter, histogram }: Registry) {
  const options = (name: string, help: string) => alpha(`kubelet_evented_pleg_connection_${name}`, help);
  return {
    opened: counter(options('success_count', 'Event streams of the container runtime that were opened.')),
    failed: counter(
      options('error_count', 'Event streams of the container runtime that could not be opened, or broke.'),
    ),
    latency: histogram(
      options('latency_seconds', 'Time from the creation of an event by the container runtime until it was received.'),
      DEFAULT_BUCKETS,
    ),
  };
}

/** Registers the metric families of `pkg/kubelet/images/pullmanager/metrics.go`. */
function registerPullRecordFamilies({ counter, gauge }: Registry) {
  const options = (name: string, help: string, labels?: readonly string[]) =>
    alpha(`kubelet_imagemanager_${name}`, help, labels);
  return {
    checks: counter(
      options('image_mustpull_checks_total', 'Checks whether a pod may use an image that is present, by outcome.', [
        'result',
      ]),
    ),
    records: gauge(options('ondisk_pulledrecords', 'Records of pulled images on disk.')),
    intents: gauge(options('ondisk_pullintents', 'Records of pulls in progress on disk.')),
  };
}
