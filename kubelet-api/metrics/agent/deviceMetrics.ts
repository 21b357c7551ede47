/** Registers the metrics of device plugins (`pkg/kubelet/metrics/metrics.go`). */
import type { PortOutcome } from '../../../actors/portOutcome.ts';
import type { ServiceAction } from '../../../actors/serviceAction.ts';
import { DEFAULT_BUCKETS } from '../buckets.ts';
import { alpha, type Registry } from '../registry.ts';

export interface DeviceMetrics {
  readonly onServiceAction: (action: ServiceAction) => void;
  readonly onPortOutcome: (outcome: PortOutcome) => void;
}

const LABELS = ['resource_name'];

export function registerDeviceMetrics(registry: Registry): DeviceMetrics {
  const registrations = registry.counter(
    alpha('kubelet_device_plugin_registration_total', 'Registrations of device plugins, by resource.', LABELS),
  );
  const durations = registry.histogram(
    alpha('kubelet_device_plugin_alloc_duration_seconds', 'Time in which a device plugin allocates devices.', LABELS),
    DEFAULT_BUCKETS,
  );
  return {
    onServiceAction: (action) => {
      if (action.action === 'devicePluginRegistered') registrations.add([action.resource]);
    },
    onPortOutcome: (outcome) => {
      if (outcome.port === 'allocateDevices') durations.observe([outcome.input.resource], outcome.ms / 1_000);
    },
  };
}
