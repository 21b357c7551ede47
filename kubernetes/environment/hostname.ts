import { NodeFailure } from '../../base/failure.ts';
import type { Pod } from '../api/schema/pod.ts';

const MAX_LABEL_LENGTH = 63;
const MAX_HOSTNAME_LENGTH = 64;

/**
 * Returns the hostname of a pod's sandbox (C19). It is empty for hostNetwork. Throws if an FQDN is too long for the
 * kernel.
 */
export function sandboxHostname(pod: Pod, clusterDomain: string): string {
  const { hostNetwork, hostnameOverride, setHostnameAsFQDN } = pod.spec;
  if (hostNetwork) return '';
  if (hostnameOverride) return hostnameOverride;
  const domain = podDomain(pod, clusterDomain);
  const name = podHostname(pod);
  if (!setHostnameAsFQDN || domain === '') return name;
  const fqdn = `${name}.${domain}`;
  if (fqdn.length <= MAX_HOSTNAME_LENGTH) return fqdn;
  const message = `Failed to construct FQDN from Pod hostname and cluster domain, FQDN ${fqdn} is too long (${MAX_HOSTNAME_LENGTH} characters is the max, ${fqdn.length} characters requested)`;
  throw new NodeFailure('FailedCreatePodSandBox', message);
}

/** Returns the hostname of a pod, which is also in its hosts file (C19). It has at most 63 characters. */
export function podHostname(pod: Pod): string {
  if (pod.spec.hostnameOverride) return pod.spec.hostnameOverride;
  const name = pod.spec.hostname || pod.metadata.name;
  return name.length <= MAX_LABEL_LENGTH ? name : name.slice(0, MAX_LABEL_LENGTH).replace(/[-.]+$/, '');
}

/** Returns the DNS domain of a pod with a subdomain, or an empty string if it has none. */
export function podDomain(pod: Pod, clusterDomain: string): string {
  const { subdomain, hostnameOverride } = pod.spec;
  if (!subdomain || hostnameOverride) return '';
  return `${subdomain}.${pod.metadata.namespace}.svc.${clusterDomain}`;
}
