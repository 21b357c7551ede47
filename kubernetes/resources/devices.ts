/**
 * Determines the devices that a pod requests through dynamic resource allocation. The node does not support preparing
 * devices yet.
 */

import { NodeFailure } from '../../base/failure.ts';
import type { Pod } from '../api/schema/pod.ts';

/**
 * Returns the claims whose devices must be prepared before the sandbox is created (`prepareResources` in
 * `pkg/kubelet/cm/dra/manager.go`). These are the claims in the spec and the claim that the scheduler created for
 * extended resources. Omits a claim without a ResourceClaim in the status, because none is needed.
 */
export function claimsToPrepare({ spec, status }: Pick<Pod, 'spec' | 'status'>): string[] {
  const { resourceClaimStatuses = [], extendedResourceClaimStatus: extendedClaim } = status ?? {};
  const unneededClaims = new Set(
    resourceClaimStatuses.flatMap(({ name, resourceClaimName }) => (resourceClaimName === undefined ? [name] : [])),
  );
  const claimNames = (spec.resourceClaims ?? []).map(({ name }) => name).filter((name) => !unneededClaims.has(name));
  return extendedClaim === undefined ? claimNames : [...claimNames, extendedClaim.resourceClaimName];
}

/** Whether the scheduler has allocated devices for an extended resource, for which it has created a claim. */
export function isAllocatedAsDevice({ status }: Pick<Pod, 'status'>, resource: string): boolean {
  const { requestMappings = [] } = status?.extendedResourceClaimStatus ?? {};
  return requestMappings.some(({ resourceName }) => resourceName === resource);
}

/** Throws `FailedPrepareDynamicResources` if the pod requests devices, because the pod must not run without them. */
export function requireNoDevices(pod: Pick<Pod, 'spec' | 'status'>): void {
  const claims = claimsToPrepare(pod);
  if (claims.length === 0) return;
  const names = claims.map((name) => `"${name}"`).join(', ');
  throw new NodeFailure(
    'FailedPrepareDynamicResources',
    `Failed to prepare dynamic resources: this node does not support devices, which the pod requests by claim ${names}`,
  );
}
