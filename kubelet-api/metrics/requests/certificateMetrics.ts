/** Measures the certificates that the node requests for itself (`pkg/kubelet/certificate/kubelet.go`). */
import type { PortOutcome } from '../../../actors/portOutcome.ts';
import type { NodeCounts } from '../../../machines/node/counts.ts';
import { AGE_BUCKETS } from '../buckets.ts';
import { alpha, type Registry } from '../registry.ts';

/** Creates the listener for port outcomes. */
export function registerCertificateMetrics(registry: Registry): (outcome: PortOutcome) => void {
  const createErrorCounter = (name: string, certificateName: string) =>
    registry.counter(alpha(name, `Failed renewals of the ${certificateName} certificate.`));
  const errors = {
    client: createErrorCounter('kubelet_certificate_manager_client_expiration_renew_errors', 'client'),
    serving: createErrorCounter('kubelet_server_expiration_renew_errors', 'serving'),
  };
  const rotationHistogram = registry.histogram(
    alpha(
      'kubelet_certificate_manager_server_rotation_seconds',
      'Age of serving certificates when they were replaced.',
    ),
    [60, ...AGE_BUCKETS],
  );
  /** Start of the current serving certificate's validity, in milliseconds since the epoch. */
  let notBefore: number | undefined;
  return ({ port, input, output, failure }) => {
    if (failure && (port === 'requestCertificate' || port === 'awaitCertificate')) errors[input.name].add([]);
    if (output === undefined || (port !== 'readCertificate' && port !== 'awaitCertificate')) return;
    if (input.name !== 'serving') return;
    if ('at' in output && notBefore !== undefined) rotationHistogram.observe([], (output.at - notBefore) / 1_000);
    notBefore = output.certificate?.notBefore;
  };
}

/**
 * Registers the gauges of the certificates' remaining lifetimes. As in the kubelet, a lifetime is truncated towards 0,
 * and is infinite if there is no certificate. `now` is in milliseconds since the epoch.
 */
export function registerCertificateGauges(
  registry: Registry,
  now: () => number,
): (counts: Pick<NodeCounts, 'certificates'>) => void {
  const createTtlGauge = (name: string, certificateName: string) =>
    registry.gauge(
      alpha(name, `Seconds until the ${certificateName} certificate expires. +Inf if the node requests none.`),
    );
  const client = createTtlGauge('kubelet_certificate_manager_client_ttl_seconds', 'client');
  const server = createTtlGauge('kubelet_certificate_manager_server_ttl_seconds', 'serving');
  const secondsUntil = (until = Number.POSITIVE_INFINITY) => Math.trunc((until - now()) / 1_000);
  return ({ certificates }) => {
    client.set([], secondsUntil(certificates.get('client')));
    server.set([], secondsUntil(certificates.get('serving')));
  };
}
