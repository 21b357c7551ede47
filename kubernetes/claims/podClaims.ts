/** Determines the ResourceClaims of a pod, and whether the pod may use them (`resourceclaim/resourceclaim.go`). */
import * as z from 'zod/mini';
import type { Pod } from '../api/schema/pod.ts';

/** A ResourceClaim that a pod needs. */
export interface PodClaim {
  /** Name of the claim within the pod. Empty for the claim that the scheduler creates for extended resources. */
  readonly podClaimName: string;
  /** Name of the ResourceClaim. */
  readonly claimName: string;
  /** Whether the ResourceClaim was created for the pod, which must then own it. */
  readonly isGenerated: boolean;
}

/** Whether the pod needs claims. If so, they are resolved when the pod starts. */
export const mayHaveClaims = ({ spec, status }: Pick<Pod, 'spec' | 'status'>): boolean =>
  (spec.resourceClaims ?? []).length > 0 || status?.extendedResourceClaimStatus !== undefined;

/**
 * Returns the claims of a pod in the order of its spec, followed by the claim for extended resources. Omits a claim
 * for which no ResourceClaim is needed. Throws an error with the kubelet's message if a ResourceClaim does not exist
 * yet.
 */
export function podClaims({ metadata, spec, status }: Pick<Pod, 'metadata' | 'spec' | 'status'>): PodClaim[] {
  const { namespace, name: podName } = metadata;
  const { resourceClaimStatuses = [], extendedResourceClaimStatus } = status ?? {};
  const claims = (spec.resourceClaims ?? []).flatMap((claim): PodClaim[] => {
    const { name, resourceClaimName, resourceClaimTemplateName } = claim;
    if (resourceClaimName !== undefined)
      return [{ podClaimName: name, claimName: resourceClaimName, isGenerated: false }];
    if (resourceClaimTemplateName === undefined)
      throw new Error(
        `pod "${namespace}/${podName}", spec.resourceClaim ${JSON.stringify(name)}: none of the supported fields are set`,
      );
    const claimStatus = resourceClaimStatuses.find((each) => each.name === name);
    if (claimStatus === undefined) throw new Error(`pod "${namespace}/${podName}": ResourceClaim not created yet`);
    const { resourceClaimName: generatedName } = claimStatus;
    return generatedName === undefined ? [] : [{ podClaimName: name, claimName: generatedName, isGenerated: true }];
  });
  if (extendedResourceClaimStatus === undefined) return claims;
  const { resourceClaimName: claimName } = extendedResourceClaimStatus;
  return [...claims, { podClaimName: '', claimName, isGenerated: false }];
}

const ownerSchema = z.looseObject({ uid: z.string(), controller: z.optional(z.boolean()) });

/** Schema of those fields of a ResourceClaim that the node reads. */
export const resourceClaimSchema = z.looseObject({
  metadata: z.looseObject({
    name: z.string(),
    namespace: z.string(),
    uid: z.string(),
    ownerReferences: z._default(z.array(ownerSchema), []),
  }),
  status: z._default(
    z.looseObject({
      allocation: z.optional(
        z.looseObject({
          devices: z._default(
            z.looseObject({ results: z._default(z.array(z.looseObject({ driver: z.string() })), []) }),
            { results: [] },
          ),
        }),
      ),
      reservedFor: z._default(z.array(z.looseObject({ uid: z.string() })), []),
    }),
    { reservedFor: [] },
  ),
});

export type ResourceClaim = z.infer<typeof resourceClaimSchema>;

/**
 * Returns the names of the drivers that have allocated devices to the claim. Throws an error with the kubelet's message
 * if the pod may not use the claim.
 */
export function allocatedDrivers(
  { metadata: pod }: Pick<Pod, 'metadata'>,
  { metadata: claim, status }: ResourceClaim,
  { isGenerated }: Pick<PodClaim, 'isGenerated'>,
): string[] {
  const podText = `Pod ${pod.namespace}/${pod.name}`;
  const claimText = `ResourceClaim ${claim.namespace}/${claim.name}`;
  const controller = claim.ownerReferences.find((owner) => owner.controller === true);
  if (isGenerated && claim.namespace !== pod.namespace)
    throw new Error(`${claimText} is not in the same namespace as ${podText}`);
  if (isGenerated && controller?.uid !== pod.uid)
    throw new Error(`${claimText} was not created for ${podText} (Pod is not owner)`);
  if (!status.reservedFor.some(({ uid }) => uid === pod.uid))
    throw new Error(`pod ${pod.name} (${pod.uid}) is not allowed to use ResourceClaim ${claim.name} (${claim.uid})`);
  if (status.allocation === undefined) throw new Error(`ResourceClaim ${claim.name}: not allocated`);
  return [...new Set(status.allocation.devices.results.map(({ driver }) => driver))];
}
