/** What a pod asks for and may use as a whole, as its status tells it (C15). */

import { lookUp } from '../../base/lookUp.ts';
import { remembered } from '../../base/remembered.ts';
import { containersOf } from '../api/containers.ts';
import { canonicalQuantity, nanosOf, quantityLike } from '../api/quantity.ts';
import type { ResourceRequirements } from '../api/schema/container.ts';
import type { PodSpec } from '../api/schema/pod.ts';
import type { ResourceList } from '../api/schema/scalars.ts';
import { aggregateNanos, type Kind } from './resources.ts';

/** Each status of a pod tells them: its own amounts before the sums of its containers', and the overhead; a limit has overhead only where there is one. */
export const effectiveResources = remembered((spec: PodSpec): Pick<ResourceRequirements, 'requests' | 'limits'> => {
  const [requests, limits] = [effective(spec, 'requests'), effective(spec, 'limits')];
  return {
    ...(Object.keys(limits).length > 0 ? { limits } : {}),
    ...(Object.keys(requests).length > 0 ? { requests } : {}),
  };
});

function effective(spec: PodSpec, kind: Kind): ResourceList {
  const containers = containersOf(spec).filter(({ role }) => role !== 'ephemeral');
  const [own, overhead] = [spec.resources?.[kind] ?? {}, spec.overhead ?? {}];
  const lists = [
    own,
    ...containers.map(({ container }) => container.resources?.[kind] ?? {}),
    ...(kind === 'requests' ? [overhead] : []),
  ];
  // The first amount of each says in which family it is written.
  const first = new Map(lists.toReversed().flatMap((list) => Object.entries(list)));
  const amounts = Array.from(first, ([name, like]) => {
    const asked = lookUp(own, name);
    const inAll = asked === undefined ? aggregateNanos(spec, kind, name) : nanosOf(asked);
    const added = kind === 'requests' || inAll > 0n ? nanosOf(lookUp(overhead, name) ?? '0') : 0n;
    return [name, quantityLike(inAll + added, like)];
  });
  return Object.fromEntries(amounts.sort());
}

/** Amounts as the API has them. */
export function canonicalAmounts(list: ResourceList): ResourceList {
  return Object.fromEntries(Object.entries(list).map(([name, text]) => [name, canonicalQuantity(text)]));
}
