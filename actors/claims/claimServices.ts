/** Implements the ports of ResourceClaims and ResourceSlices. */

import { parseResponse } from '../../kubeclient/answer.ts';
import type { KubeClient } from '../../kubeclient/client.ts';
import { isNotFound } from '../../kubeclient/kubeError.ts';
import { RESOURCE_CLAIM_TYPE, RESOURCE_SLICES_PATH, resourceClaimPath } from '../../kubeclient/paths.ts';
import { readStatus } from '../../kubernetes/api/pods/apiStatus.ts';
import { resourceClaimSchema } from '../../kubernetes/claims/podClaims.ts';
import type { PortServices } from '../boundary.ts';
import type { PodCache } from '../cluster/pods/podCache.ts';
import type { ClaimManager, ClaimManagerDependencies } from './claimManager.ts';

export type ClaimPort = 'prepareClaims' | 'unprepareClaims' | 'unprepareLeftoverClaims' | 'deleteResourceSlices';
type ClaimServices = Pick<PortServices, ClaimPort>;

interface ClaimServiceDependencies {
  readonly claimManager: ClaimManager;
  /** Undefined for a node without a cluster. */
  readonly client: KubeClient | undefined;
  readonly nodeName: string;
}

export const claimServices = ({ claimManager, client, nodeName }: ClaimServiceDependencies): ClaimServices => ({
  prepareClaims: async ({ pod }, options) => {
    await claimManager.prepare(pod, options);
    return null;
  },
  unprepareClaims: async ({ pod }, options) => {
    await claimManager.unprepare(pod.metadata.uid, options);
    return null;
  },
  unprepareLeftoverClaims: async ({ activePodUids }, options) => {
    await claimManager.unprepareLeftovers(activePodUids, options);
    return null;
  },
  deleteResourceSlices: async ({ driver }, options) => {
    if (client === undefined) throw noCluster();
    const selector = [`spec.nodeName=${nodeName}`, ...(driver === undefined ? [] : [`spec.driver=${driver}`])];
    const path = `${RESOURCE_SLICES_PATH}?${new URLSearchParams({ fieldSelector: selector.join() })}`;
    try {
      await client.delete(path, {}, options);
    } catch (error) {
      // Ignore the error, because an older API server does not serve this API version.
      if (!isNotFound(error)) throw error;
    }
    return null;
  },
});

const noCluster = (): Error => new Error('the node belongs to no cluster');

/** Returns the claim manager's access to the API server. Without a cluster, no pod can have claims. */
export function claimReader(
  cluster: { readonly client: KubeClient; readonly pods: PodCache } | undefined,
): Pick<ClaimManagerDependencies, 'fetchClaim' | 'podStatus'> {
  if (cluster === undefined) return { fetchClaim: () => Promise.reject(noCluster()), podStatus: () => undefined };
  return {
    fetchClaim: async (claim, options) => {
      const path = resourceClaimPath(claim);
      const object = await cluster.client.get(path, { ...options, type: RESOURCE_CLAIM_TYPE });
      return parseResponse(resourceClaimSchema, object, { request: `GET ${path}`, expected: 'a ResourceClaim' });
    },
    podStatus: ({ metadata }) => readStatus(cluster.pods.find(metadata.uid)?.status),
  };
}
