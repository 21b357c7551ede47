import { lookUp } from '../../base/values/lookUp.ts';
import { memoize } from '../../base/values/memoize.ts';
import type { ResourceRequirements } from '../api/schema/container.ts';
import type { PodSpec } from '../api/schema/pod.ts';
import { parseQuantity } from '../api/values/quantity.ts';

export type QosClass = 'Guaranteed' | 'Burstable' | 'BestEffort';

/**
 * Returns the QoS class that results from the requests and limits of CPU and memory. Pod-level resources, if any,
 * replace those of the containers.
 */
export const qosClass = (spec: PodSpec): QosClass => qosOf(spec).class;

/**
 * Returns the QoS class in an object, because only functions that return objects can be memoized. The configuration of
 * each of a pod's containers depends on the class.
 */
const qosOf = memoize((spec: PodSpec): { readonly class: QosClass } => ({ class: computeQosClass(spec) }));

function computeQosClass(spec: PodSpec): QosClass {
  const resourceSets = hasAmounts(spec.resources)
    ? [spec.resources]
    : [...(spec.initContainers ?? []), ...spec.containers].map((container) => container.resources);
  const requestSums = sumAmounts(resourceSets, 'requests');
  const limitSums = sumAmounts(resourceSets, 'limits');
  if (requestSums.size === 0 && limitSums.size === 0) return 'BestEffort';
  const areAllLimited = resourceSets.every((part) => sumAmounts([part], 'limits').size === 2);
  const areEqual = ['cpu', 'memory'].every((resource) => requestSums.get(resource) === limitSums.get(resource));
  return areAllLimited && areEqual ? 'Guaranteed' : 'Burstable';
}

function hasAmounts(resources: ResourceRequirements | undefined): boolean {
  return Object.keys(resources?.requests ?? {}).length > 0 || Object.keys(resources?.limits ?? {}).length > 0;
}

/**
 * Adds up the positive amounts of CPU and memory in several resource sets. Returns the sums in billionths of a unit, by
 * resource.
 */
function sumAmounts(
  resourceSets: readonly (ResourceRequirements | undefined)[],
  kind: 'requests' | 'limits',
): Map<string, bigint> {
  const sum = new Map<string, bigint>();
  for (const part of resourceSets) {
    for (const resource of ['cpu', 'memory']) {
      const nanos = parseQuantity(lookUp(part?.[kind], resource) ?? '') ?? 0n;
      if (nanos > 0n) sum.set(resource, (sum.get(resource) ?? 0n) + nanos);
    }
  }
  return sum;
}
