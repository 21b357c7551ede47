import type { Problem } from './problem.ts';
import type { Pod } from './schema/pod.ts';
import { isStaticPod } from './staticPod.ts';
import { validateContainers } from './validation/containers.ts';
import { validateNames } from './validation/names.ts';
import { validateClaims, validatePodResources, validateResizePolicies } from './validation/podResources.ts';
import { validateAmounts } from './validation/resources.ts';
import { validateSchedulingGates } from './validation/scheduling.ts';
import { validateSecurity } from './validation/security.ts';
import { type StaticRules, validateStatic } from './validation/static.ts';
import { validateVolumes } from './validation/volumes.ts';
import { dnsLabel, dnsSubdomain, invalid, notNegative } from './validation/words.ts';

/** In seconds: what fits into 32 bits. */
const LONGEST_DEADLINE = 2 ** 31 - 1;

/**
 * What a node can not run of a pod with its defaults; empty when all is well. Messages are Kubernetes's own. A static pod
 * that refers to objects of an API server is refused, or, `isLenient`, taken as far as it can do without them; but for
 * those that its source may have where the caller `seesNeeds`.
 */
export function validatePod(pod: Pod, { isLenient = false, seesNeeds = false }: Partial<StaticRules> = {}): Problem[] {
  const { metadata, spec } = pod;
  return [
    ...dnsSubdomain('metadata.name', metadata.name),
    ...dnsLabel('metadata.namespace', metadata.namespace),
    ...validateUid(metadata.uid),
    ...notNegative('spec.terminationGracePeriodSeconds', spec.terminationGracePeriodSeconds),
    ...(spec.activeDeadlineSeconds !== undefined &&
    (spec.activeDeadlineSeconds < 1 || spec.activeDeadlineSeconds > LONGEST_DEADLINE)
      ? [
          invalid(
            'spec.activeDeadlineSeconds',
            spec.activeDeadlineSeconds,
            'must be between 1 and 2147483647, inclusive',
          ),
        ]
      : []),
    ...(spec.hostname ? dnsLabel('spec.hostname', spec.hostname) : []),
    ...(spec.subdomain ? dnsLabel('spec.subdomain', spec.subdomain) : []),
    ...validateNames(spec),
    ...validateVolumes(spec.volumes ?? [], 'spec.volumes'),
    ...validateContainers(spec),
    ...validateSchedulingGates(spec),
    ...validatePodResources(spec),
    ...validateClaims(spec),
    ...validateResizePolicies(spec),
    ...validateAmounts(spec.overhead ?? {}, 'spec.overhead'),
    ...validateSecurity(pod),
    ...validateHostNetwork(pod),
    ...(isStaticPod(pod) ? validateStatic(spec, { isLenient, seesNeeds }) : []),
  ];
}

/** A UID becomes the name of a directory and of a cgroup. */
function validateUid(uid: string): Problem[] {
  const rule =
    "must consist of alphanumeric characters, '-', '_' or '.', start with an alphanumeric one, and have at most 63";
  return /^[A-Za-z0-9][-A-Za-z0-9_.]{0,62}$/.test(uid) ? [] : [invalid('metadata.uid', uid, rule)];
}

function validateHostNetwork({ spec }: Pod): Problem[] {
  if (!spec.hostNetwork) return [];
  return spec.containers.flatMap(({ ports = [] }, index) =>
    ports.flatMap(({ hostPort, containerPort }, at) =>
      hostPort && hostPort !== containerPort
        ? [
            invalid(
              `spec.containers[${index}].ports[${at}].hostPort`,
              hostPort,
              'must match `containerPort` when `hostNetwork` is true',
            ),
          ]
        : [],
    ),
  );
}
