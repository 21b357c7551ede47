/**
 * Measures the use of kubeconfigs' exec plugins and CA files
 * (`component-base/metrics/prometheus/restclient/metrics.go`).
 */
import { AGE_BUCKETS } from '../buckets.ts';
import { alpha, type Registry } from '../registry.ts';

/** A run of an exec plugin (`plugin/pkg/client/auth/exec/metrics.go` of client-go). */
export interface ExecPluginCall {
  readonly status: 'no_error' | 'plugin_execution_error' | 'plugin_not_found_error' | 'client_internal_error';
  /** The exit code, or 1 if the plugin could not be started. */
  readonly code: number;
}

/** The validity of a certificate, in milliseconds since the epoch. */
export interface ValidityPeriod {
  readonly notBefore: number;
  readonly notAfter: number;
}

export interface ExecPluginObserver {
  called(call: ExecPluginCall): void;
  /**
   * Called when a plugin returns a certificate for the first time, returns a different certificate, or no longer
   * returns a certificate.
   */
  certificateChanged(plugin: object, certificate: ValidityPeriod | undefined): void;
}

/** The outcome of reloading the CA file (`transport/ca_rotation.go` of client-go). */
export type CaReload =
  | { readonly result: 'success'; readonly reason: 'updated' | 'unchanged' }
  | { readonly result: 'failure'; readonly reason: 'read_error' | 'empty' | 'ca_parse_error' };

export interface CredentialObserver extends ExecPluginObserver {
  caReloaded(reload: CaReload): void;
}

/** Creates the observer, which all kubeconfigs share. `now` is in milliseconds since the epoch. */
export function registerCredentialMetrics(registry: Registry, now: () => number): CredentialObserver {
  const calls = registry.counter(
    alpha('rest_client_exec_plugin_call_total', 'Runs of exec plugins, by exit code and outcome.', [
      'code',
      'call_status',
    ]),
  );
  const rotationHistogram = registry.histogram(
    alpha(
      'rest_client_exec_plugin_certificate_rotation_age',
      'Age in seconds of client certificates of exec plugins when they were replaced.',
    ),
    [600, 1_800, ...AGE_BUCKETS],
  );
  const ttl = registry.gauge(
    alpha(
      'rest_client_exec_plugin_ttl_seconds',
      'Seconds until the first client certificate of an exec plugin expires. +Inf if there is none.',
    ),
  );
  const caReloadsCounter = registry.counter(
    alpha('rest_client_transport_ca_reload_total', 'Reloads of the CA file, by outcome.', ['result', 'reason']),
  );
  const certificates = new Map<object, ValidityPeriod>();
  registry.collect(() => {
    const remainingSeconds = [...certificates.values()].map(({ notAfter }) => (notAfter - now()) / 1_000);
    ttl.set([], Math.min(...remainingSeconds));
  });
  return {
    caReloaded: ({ result, reason }) => caReloadsCounter.add([result, reason]),
    called: ({ code, status }) => calls.add([String(code), status]),
    certificateChanged: (plugin, certificate) => {
      const previousCertificate = certificates.get(plugin);
      if (previousCertificate) rotationHistogram.observe([], (now() - previousCertificate.notBefore) / 1_000);
      if (certificate) certificates.set(plugin, certificate);
      else certificates.delete(plugin);
    },
  };
}
