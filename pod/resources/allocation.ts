/** What is kept of a pod's admission over a restart of the agent, or of its actor. */

import type { Pod } from '../api/schema/pod.ts';
import type { PodView } from '../status/view.ts';
import type { ContainerSize } from './containerSize.ts';
import { type PodRequests, requestsOf } from './requests.ts';
import { type PodResources, resourcesOf } from './resize.ts';

export interface Allocation extends PodRequests {
  /** The resources that were admitted; absent in what an older agent kept. */
  readonly resources?: PodResources;
  /** While a resize is under way: the sizes that the containers still have. */
  readonly sizes?: Readonly<Record<string, ContainerSize>>;
}

/** That of a pod as it was admitted; with the sizes of its containers while a resize is under way. */
export const allocationOf = (pod: Pod, sizes?: Allocation['sizes']): Allocation => ({
  ...requestsOf(pod),
  resources: resourcesOf(pod),
  ...(sizes ? { sizes } : {}),
});

/** The sizes that the containers of a pod have, as they are shown. */
export const sizesOf = ({ containers }: PodView): Record<string, ContainerSize> =>
  Object.fromEntries(containers.flatMap(({ name, size }) => (size ? [[name, size] as const] : [])));
