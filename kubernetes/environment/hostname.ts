import { NodeFailure } from '../../base/failure.ts';
import type { Pod } from '../api/schema/pod.ts';

const LONGEST_LABEL = 63;
const LONGEST_KERNEL_NAME = 64;

/** The hostname that a pod's sandbox gets (C19), empty for hostNetwork; throws when an FQDN is too long for the kernel. */
export function sandboxHostname(pod: Pod, clusterDomain: string): string {
  const { hostNetwork, hostnameOverride, setHostnameAsFQDN } = pod.spec;
  if (hostNetwork) return '';
  if (hostnameOverride) return hostnameOverride;
  const domain = podDomain(pod, clusterDomain);
  const name = podHostname(pod);
  if (!setHostnameAsFQDN || domain === '') return name;
  const fqdn = `${name}.${domain}`;
  if (fqdn.length <= LONGEST_KERNEL_NAME) return fqdn;
  const message = `Failed to construct FQDN from Pod hostname and cluster domain, FQDN ${fqdn} is too long (${LONGEST_KERNEL_NAME} characters is the max, ${fqdn.length} characters requested)`;
  throw new NodeFailure('FailedCreatePodSandBox', message);
}

/** A pod's own name on its network (C19): at most 63 characters, as in its hosts file. */
export function podHostname(pod: Pod): string {
  if (pod.spec.hostnameOverride) return pod.spec.hostnameOverride;
  const name = pod.spec.hostname || pod.metadata.name;
  return name.length <= LONGEST_LABEL ? name : name.slice(0, LONGEST_LABEL).replace(/[-.]+$/, '');
}

/** The domain that a subdomain puts a pod into, empty without one. */
export function podDomain(pod: Pod, clusterDomain: string): string {
  const { subdomain, hostnameOverride } = pod.spec;
  if (!subdomain || hostnameOverride) return '';
  return `${subdomain}.${pod.metadata.namespace}.svc.${clusterDomain}`;
}
