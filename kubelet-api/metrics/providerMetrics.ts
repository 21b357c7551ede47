/** The families about credential providers for images (`pkg/credentialprovider/plugin/metrics.go`). */
import { USUAL } from './buckets.ts';
import { alpha, type Registry } from './registry.ts';

/** A run of the program of a credential provider. */
export interface ProviderRun {
  readonly provider: string;
  readonly ms: number;
  readonly hasFailed: boolean;
}

/** Creates the listener for runs. */
export function providerMetrics(registry: Registry): (run: ProviderRun) => void {
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
    USUAL,
  );
  return ({ provider, ms, hasFailed }) => {
    duration.observe([provider], ms / 1_000);
    if (hasFailed) errors.add([provider]);
  };
}
