import { memoize } from '../../base/values/memoize.ts';
import { dottedSysctl } from '../../kubernetes/admission/sysctls.ts';
import { containersOf } from '../../kubernetes/api/pods/containers.ts';
import type { ContainerPort } from '../../kubernetes/api/schema/container.ts';
import type { Pod, PodSpec } from '../../kubernetes/api/schema/pod.ts';
import { sandboxHostname } from '../../kubernetes/environment/hostname.ts';
import { cgroupPath, podCgroupNames } from '../../kubernetes/resources/cgroup.ts';
import { PodSandboxConfig, type PortMapping, Protocol } from '../generated/runtime.ts';
import type { NodeDescription } from '../nodeDescription.ts';
import { podDnsConfig } from './dns.ts';
import { OWNER_ANNOTATION, POD_NAME_LABEL, POD_NAMESPACE_LABEL, POD_UID_LABEL } from './labels.ts';
import { sandboxOverhead, sandboxResources } from './linuxResources.ts';
import type { UserRange } from './namespaces.ts';
import { buildSandboxSecurityContext } from './securityContext.ts';

/**
 * Returns the CRI configuration of a pod, for the sandbox and for each container in it. `userRange` is the pod's user
 * namespace, if any.
 */
export function sandboxConfig(
  pod: Pod,
  attempt: number,
  node: NodeDescription,
  userRange?: UserRange,
): PodSandboxConfig {
  const { name, namespace, uid, labels, annotations } = pod.metadata;
  return PodSandboxConfig.fromPartial({
    metadata: { name, namespace, uid, attempt },
    hostname: sandboxHostname(pod, node.clusterDomain),
    logDirectory: `${node.podLogsDir}/${namespace}_${name}_${uid}`,
    dnsConfig: podDnsConfig(pod, node),
    portMappings: portMappings(pod.spec),
    labels: { ...labels, [POD_NAME_LABEL]: name, [POD_NAMESPACE_LABEL]: namespace, [POD_UID_LABEL]: uid },
    annotations: { ...annotations, [OWNER_ANNOTATION]: node.owner },
    linux: {
      cgroupParent: cgroupParent(pod, node),
      securityContext: buildSandboxSecurityContext(pod, userRange),
      sysctls: toSysctls(pod),
      overhead: sandboxOverhead(pod.spec, node),
      resources: sandboxResources(pod.spec, node),
    },
  });
}

/**
 * Returns the parent cgroup of the pod's containers (C25). If pods have no cgroups of their own, this is the configured
 * root.
 */
export function cgroupParent(pod: Pod, node: NodeDescription): string {
  if (node.cgroups.perQos) return cgroupPath(podCgroupNames(pod), node);
  return node.cgroupRoot === '' ? '' : cgroupPath([], node);
}

/**
 * Returns the ports that the host forwards. A pod on the host network needs no forwarding. Memoized, because the
 * request to create a container contains the configuration of its sandbox.
 */
const portMappings = memoize((spec: PodSpec): PortMapping[] => {
  if (spec.hostNetwork) return [];
  return containersOf(spec)
    .filter(({ role }) => role === 'regular' || role === 'sidecar')
    .flatMap(({ container }) => container.ports ?? [])
    .flatMap(portMapping);
});

function portMapping({ protocol = 'TCP', containerPort, hostPort, hostIP = '' }: ContainerPort): PortMapping[] {
  return hostPort ? [{ protocol: Protocol[protocol], containerPort, hostPort, hostIp: hostIP }] : [];
}

/** Returns the sysctls of a pod in dotted notation. Their names may be written with slashes. */
function toSysctls({ spec }: Pod): Record<string, string> {
  const requestedSysctls = spec.securityContext?.sysctls ?? [];
  return Object.fromEntries(requestedSysctls.map(({ name, value }) => [dottedSysctl(name), value]));
}
