/** Devices that a pod requests through dynamic resource allocation. The node does not prepare them yet. */

import { NodeFailure } from '../../base/failure.ts';
import type { Pod } from '../api/schema/pod.ts';

/**
 * The claims whose devices must be prepared before the sandbox is created (`prepareResources` in
 * `pkg/kubelet/cm/dra/manager.go`): those of the spec, except for a claim for which the status names no ResourceClaim
 * because none is needed, and the claim that the scheduler created for extended resources.
 */
export function claimsToPrepare({ spec, status }: Pick<Pod, 'spec' | 'status'>): string[] {
  const { resourceClaimStatuses = [], extendedResourceClaimStatus: extended } = status ?? {};
  const unneeded = new Set(
    resourceClaimStatuses.flatMap(({ name, resourceClaimName }) => (resourceClaimName === undefined ? [name] : [])),
  );
  const named = (spec.resourceClaims ?? []).map(({ name }) => name).filter((name) => !unneeded.has(name));
  return extended === undefined ? named : [...named, extended.resourceClaimName];
}

/** Whether an extended resource is one of those that the scheduler has allocated as devices, by a claim of its own. */
export function isAllocatedAsDevice({ status }: Pick<Pod, 'status'>, resource: string): boolean {
  const { requestMappings = [] } = status?.extendedResourceClaimStatus ?? {};
  return requestMappings.some(({ resourceName }) => resourceName === resource);
}

/** Fails with `FailedPrepareDynamicResources` if the pod requests devices, because it must not run without them. */
export function requireNoDevices(pod: Pick<Pod, 'spec' | 'status'>): void {
  const claims = claimsToPrepare(pod);
  if (claims.length === 0) return;
  const names = claims.map((name) => `"${name}"`).join(', ');
  throw new NodeFailure(
    'FailedPrepareDynamicResources',
    `Failed to prepare dynamic resources: this node does not support devices, which the pod requests by claim ${names}`,
  );
}
