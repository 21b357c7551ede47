/** Determines which pods use which claims. */
import { isJsonEqual } from '../../../base/values/isJsonEqual.ts';
import { type ClaimState, claimKey } from '../../../kubernetes/claims/claimState.ts';
import { childrenOf } from '../../shared/views/actorTree.ts';
import type { PodRef } from '../../shared/views/views.ts';
import type { NodeContext } from '../context.ts';
import { isDesired } from './wanted.ts';

const claimsOfPod = (claims: readonly ClaimState[], uid: string): ClaimState[] =>
  claims.filter(({ podUids }) => podUids.includes(uid));

/** Returns the current claims of each pod whose claims have changed, by its UID. */
export function changedPodClaims(
  { claims: previousClaims }: Pick<NodeContext, 'claims'>,
  claims: readonly ClaimState[],
): Map<string, ClaimState[]> {
  const previousByKey = new Map(previousClaims.map((claim) => [claimKey(claim), claim]));
  const currentKeys = new Set(claims.map(claimKey));
  const changedClaims = claims.flatMap((claim) => {
    const previousClaim = previousByKey.get(claimKey(claim));
    return isJsonEqual(claim, previousClaim) ? [] : [claim, ...(previousClaim ? [previousClaim] : [])];
  });
  const removedClaims = previousClaims.filter((claim) => !currentKeys.has(claimKey(claim)));
  const uids = [...changedClaims, ...removedClaims].flatMap(({ podUids }) => podUids);
  return new Map([...new Set(uids)].map((uid) => [uid, claimsOfPod(claims, uid)]));
}

/**
 * Returns the UIDs of the pods that may use claims: pods that have not stopped, and desired pods whose actor is about
 * to be respawned.
 */
export function claimPodUids(context: NodeContext, children: Parameters<typeof childrenOf>[0]): readonly string[] {
  const remainingUids = childrenOf<PodRef>(children, 'pod/').flatMap((pod) => {
    const snapshot = pod.getSnapshot();
    return snapshot.hasTag('ended') ? [] : [snapshot.context.desired.metadata.uid];
  });
  const usedUids = context.claims.flatMap(({ podUids }) => podUids);
  const awaitedUids = usedUids.filter((uid) => !Object.hasOwn(context.pods, uid) && isDesired(context, uid));
  return [...remainingUids, ...awaitedUids];
}
