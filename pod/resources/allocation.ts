/** What is kept of a pod's admission over a restart of the agent. */

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

export function allocationOf({ pod, resizing, containers }: PodView): Allocation {
  const sizes = containers.flatMap(({ name, size }) => (size ? [[name, size] as const] : []));
  return {
    ...requestsOf(pod),
    resources: resourcesOf(pod),
    ...(resizing ? { sizes: Object.fromEntries(sizes) } : {}),
  };
}
