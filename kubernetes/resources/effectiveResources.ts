/** Computes the effective resources of a pod, as reported in its status (C15). */

import { lookUp } from '../../base/values/lookUp.ts';
import { memoize } from '../../base/values/memoize.ts';
import { containersOf } from '../api/pods/containers.ts';
import type { ResourceRequirements } from '../api/schema/container.ts';
import type { PodSpec } from '../api/schema/pod.ts';
import type { ResourceList } from '../api/schema/scalars.ts';
import { canonicalQuantity, nanosOf, quantityLike } from '../api/values/quantity.ts';
import { type AmountKind, aggregateNanos } from './resources.ts';

/**
 * Returns the pod-level amounts or, if there are none, the aggregates of the containers, in each case plus the
 * overhead. A limit includes the overhead only if the limit is not zero. The result is cached, because every status
 * contains it.
 */
export const effectiveResources = memoize((spec: PodSpec): Pick<ResourceRequirements, 'requests' | 'limits'> => {
  const [requests, limits] = [effectiveAmounts(spec, 'requests'), effectiveAmounts(spec, 'limits')];
  return {
    ...(Object.keys(limits).length > 0 ? { limits } : {}),
    ...(Object.keys(requests).length > 0 ? { requests } : {}),
  };
});

function effectiveAmounts(spec: PodSpec, kind: AmountKind): ResourceList {
  const containers = containersOf(spec).filter(({ role }) => role !== 'ephemeral');
  const [podAmounts, overhead] = [spec.resources?.[kind] ?? {}, spec.overhead ?? {}];
  const resourceLists = [
    podAmounts,
    ...containers.map(({ container }) => container.resources?.[kind] ?? {}),
    ...(kind === 'requests' ? [overhead] : []),
  ];
  // First amount of each resource, which determines the format of the sum.
  const firstAmounts = new Map(resourceLists.toReversed().flatMap((list) => Object.entries(list)));
  const amounts = Array.from(firstAmounts, ([name, firstAmount]) => {
    const podAmount = lookUp(podAmounts, name);
    const totalNanos = podAmount === undefined ? aggregateNanos(spec, kind, name) : nanosOf(podAmount);
    const overheadNanos = kind === 'requests' || totalNanos > 0n ? nanosOf(lookUp(overhead, name) ?? '0') : 0n;
    return [name, quantityLike(totalNanos + overheadNanos, firstAmount)];
  });
  return Object.fromEntries(amounts.sort());
}

export function canonicalAmounts(list: ResourceList): ResourceList {
  return Object.fromEntries(Object.entries(list).map(([name, text]) => [name, canonicalQuantity(text)]));
}
