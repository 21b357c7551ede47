/** Defines the persisted result of a pod's admission, which survives restarts of the agent and of the actor. */

import type { Pod } from '../api/schema/pod.ts';
import type { PodView } from '../status/view.ts';
import type { ContainerSize } from './containerSize.ts';
import { type PodResourceRequests, requestsOf } from './requests.ts';
import { type PodResources, resourcesOf } from './resize.ts';

export interface Allocation extends PodResourceRequests {
  /** The admitted resources. Undefined if the allocation was persisted by an older agent. */
  readonly resources?: PodResources;
  /** Current sizes of the containers by name. Undefined unless a resize is in progress. */
  readonly sizes?: Readonly<Record<string, ContainerSize>>;
}

/**
 * Returns the allocation of an admitted pod. While a resize is in progress, pass the current sizes of its containers.
 */
export function allocationOf(pod: Pod, sizes?: Allocation['sizes']): Allocation {
  const { pod: _name, ...requests } = requestsOf(pod);
  return { ...requests, resources: resourcesOf(pod), ...(sizes ? { sizes } : {}) };
}

/** Returns the current sizes of a pod's containers, by name. */
export const sizesOf = ({ containers }: PodView): Record<string, ContainerSize> =>
  Object.fromEntries(containers.flatMap(({ name, size }) => (size ? [[name, size] as const] : [])));
