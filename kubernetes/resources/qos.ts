import { lookUp } from '../../base/lookUp.ts';
import { parseQuantity } from '../api/quantity.ts';
import type { ResourceRequirements } from '../api/schema/container.ts';
import type { PodSpec } from '../api/schema/pod.ts';

export type QosClass = 'Guaranteed' | 'Burstable' | 'BestEffort';

/** The class that a pod's requests and limits of cpu and memory give it; the pod's own, where set, replace the containers'. */
export function qosClass(spec: PodSpec): QosClass {
  const parts = hasOwn(spec.resources)
    ? [spec.resources]
    : [...(spec.initContainers ?? []), ...spec.containers].map((container) => container.resources);
  const requests = sums(parts, 'requests');
  const limits = sums(parts, 'limits');
  if (requests.size === 0 && limits.size === 0) return 'BestEffort';
  const allLimited = parts.every((part) => sums([part], 'limits').size === 2);
  const equal = ['cpu', 'memory'].every((resource) => requests.get(resource) === limits.get(resource));
  return allLimited && equal ? 'Guaranteed' : 'Burstable';
}

function hasOwn(resources: ResourceRequirements | undefined): boolean {
  return Object.keys(resources?.requests ?? {}).length > 0 || Object.keys(resources?.limits ?? {}).length > 0;
}

/** The positive amounts of cpu and memory, in nanos by resource. */
function sums(parts: readonly (ResourceRequirements | undefined)[], kind: 'requests' | 'limits'): Map<string, bigint> {
  const sum = new Map<string, bigint>();
  for (const part of parts) {
    for (const resource of ['cpu', 'memory']) {
      const nanos = parseQuantity(lookUp(part?.[kind], resource) ?? '') ?? 0n;
      if (nanos > 0n) sum.set(resource, (sum.get(resource) ?? 0n) + nanos);
    }
  }
  return sum;
}
