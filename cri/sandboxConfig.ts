import { dottedSysctl } from '../kubernetes/admission/sysctls.ts';
import { containersOf } from '../kubernetes/api/containers.ts';
import type { ContainerPort } from '../kubernetes/api/schema/container.ts';
import type { Pod } from '../kubernetes/api/schema/pod.ts';
import { sandboxHostname } from '../kubernetes/environment/hostname.ts';
import { cgroupPath, podCgroupNames } from '../kubernetes/resources/cgroup.ts';
import { podDns } from './dns.ts';
import { PodSandboxConfig, type PortMapping, Protocol } from './generated/runtime.ts';
import { OWNER, POD_NAME_LABEL, POD_NAMESPACE_LABEL, POD_UID_LABEL } from './labels.ts';
import { sandboxOverhead, sandboxResources } from './linuxResources.ts';
import type { UserRange } from './namespaces.ts';
import type { NodeDescription } from './nodeDescription.ts';
import { sandboxSecurity } from './securityContext.ts';

/** What the runtime is told of a pod, for its sandbox and again for each container in it; `users` are those of its own. */
export function sandboxConfig(pod: Pod, attempt: number, node: NodeDescription, users?: UserRange): PodSandboxConfig {
  const { name, namespace, uid, labels, annotations } = pod.metadata;
  return PodSandboxConfig.fromPartial({
    metadata: { name, namespace, uid, attempt },
    hostname: sandboxHostname(pod, node.clusterDomain),
    logDirectory: `${node.podLogsDir}/${namespace}_${name}_${uid}`,
    dnsConfig: podDns(pod, node),
    portMappings: portMappings(pod),
    labels: { ...labels, [POD_NAME_LABEL]: name, [POD_NAMESPACE_LABEL]: namespace, [POD_UID_LABEL]: uid },
    annotations: { ...annotations, [OWNER]: node.owner },
    linux: {
      cgroupParent: cgroupParent(pod, node),
      securityContext: sandboxSecurity(pod, users),
      sysctls: sysctls(pod),
      overhead: sandboxOverhead(pod.spec, node),
      resources: sandboxResources(pod.spec, node),
    },
  });
}

/** The cgroup that the pod's containers are in (C25); where pods have none of their own, that of the configuration. */
export function cgroupParent(pod: Pod, node: NodeDescription): string {
  if (node.cgroups.perQos) return cgroupPath(podCgroupNames(pod), node);
  return node.cgroupRoot === '' ? '' : cgroupPath([], node);
}

/** The ports that the host forwards; a pod on the host's network has them as they are. */
function portMappings({ spec }: Pod): PortMapping[] {
  if (spec.hostNetwork) return [];
  return containersOf(spec)
    .filter(({ role }) => role === 'regular' || role === 'sidecar')
    .flatMap(({ container }) => container.ports ?? [])
    .flatMap(portMapping);
}

function portMapping({ protocol = 'TCP', containerPort, hostPort, hostIP = '' }: ContainerPort): PortMapping[] {
  return hostPort ? [{ protocol: Protocol[protocol], containerPort, hostPort, hostIp: hostIP }] : [];
}

/** A sysctl's parts may be written with slashes. */
function sysctls({ spec }: Pod): Record<string, string> {
  const wanted = spec.securityContext?.sysctls ?? [];
  return Object.fromEntries(wanted.map(({ name, value }) => [dottedSysctl(name), value]));
}
