/** The persisted result of a pod's admission. It survives a restart of the agent, or of the pod's actor. */

import type { Pod } from '../api/schema/pod.ts';
import type { PodView } from '../status/view.ts';
import type { ContainerSize } from './containerSize.ts';
import { type PodResourceRequests, requestsOf } from './requests.ts';
import { type PodResources, resourcesOf } from './resize.ts';

export interface Allocation extends PodResourceRequests {
  /** The resources that were admitted; absent in what an older agent kept. */
  readonly resources?: PodResources;
  /** While a resize is under way: the sizes that the containers still have. */
  readonly sizes?: Readonly<Record<string, ContainerSize>>;
}

/** That of a pod as it was admitted; with the sizes of its containers while a resize is under way. */
export function allocationOf(pod: Pod, sizes?: Allocation['sizes']): Allocation {
  const { pod: _name, ...requests } = requestsOf(pod);
  return { ...requests, resources: resourcesOf(pod), ...(sizes ? { sizes } : {}) };
}

/** The sizes that the containers of a pod have, as they are shown. */
export const sizesOf = ({ containers }: PodView): Record<string, ContainerSize> =>
  Object.fromEntries(containers.flatMap(({ name, size }) => (size ? [[name, size] as const] : [])));
