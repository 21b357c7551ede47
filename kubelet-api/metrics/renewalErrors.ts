/** Certificates that could not be had (`pkg/kubelet/certificate/kubelet.go`). */
import type { PortAnswer } from '../../actors/portAnswer.ts';
import { alpha, type Registry } from './registry.ts';

/** Told of each answer of a port. */
export function renewalErrors(registry: Registry): (answer: PortAnswer) => void {
  const of = (name: string, what: string) =>
    registry.counter(alpha(name, `How often the ${what} certificate could not be renewed.`));
  const errors = {
    client: of('kubelet_certificate_manager_client_expiration_renew_errors', 'client'),
    serving: of('kubelet_server_expiration_renew_errors', 'serving'),
  };
  return ({ port, input, failure }) => {
    if (failure && (port === 'requestCertificate' || port === 'awaitCertificate')) errors[input.name].add([]);
  };
}
