/** Measures image credential providers (`pkg/credentialprovider/plugin/metrics.go`). */
import { DEFAULT_BUCKETS } from '../buckets.ts';
import { alpha, type Registry } from '../registry.ts';

interface ProviderRun {
  readonly provider: string;
  readonly ms: number;
  readonly hasFailed: boolean;
}

export interface ProviderObserver {
  ran(run: ProviderRun): void;
  /** Called when the configuration of the providers has been read. `hash` is the hash of the configuration files. */
  configured(hash: string): void;
}

export function registerProviderMetrics(registry: Registry): ProviderObserver {
  const infoGauge = registry.gauge(
    alpha('kubelet_credential_provider_config_info', 'The configuration of credential providers, with the value 1.', [
      'hash',
    ]),
  );
  const labels = ['plugin_name'];
  const errors = registry.counter(
    alpha('kubelet_credential_provider_plugin_errors_total', 'Failed runs of credential providers.', labels),
  );
  const duration = registry.histogram(
    alpha(
      'kubelet_credential_provider_plugin_duration',
      'Duration of runs of credential providers, in seconds.',
      labels,
    ),
    DEFAULT_BUCKETS,
  );
  return {
    ran: ({ provider, ms, hasFailed }) => {
      duration.observe([provider], ms / 1_000);
      if (hasFailed) errors.add([provider]);
    },
    configured: (hash) => infoGauge.set([hash], 1),
  };
}
