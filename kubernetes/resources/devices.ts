/** Determines which extended resources of a pod are provided through dynamic resource allocation (DRA). */
import type { Pod } from '../api/schema/pod.ts';

/** Whether the scheduler has allocated devices for an extended resource and has created a claim for it. */
export function isAllocatedAsDevice({ status }: Pick<Pod, 'status'>, resource: string): boolean {
  const { requestMappings = [] } = status?.extendedResourceClaimStatus ?? {};
  return requestMappings.some(({ resourceName }) => resourceName === resource);
}
