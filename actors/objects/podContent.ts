/** What pods of a cluster get of it beside ConfigMaps and Secrets: tokens of their service accounts, and its trust anchors. */
import type { Clock } from '../../base/clock.ts';
import type { ClusterParts } from '../node/nodeParts.ts';
import { ClusterTrustBundles, type FollowedBundles, noTrustBundles } from './clusterTrustBundles.ts';
import { ServiceAccountTokens } from './tokens/serviceAccountTokens.ts';

interface ContentParts {
  readonly clock: Clock;
  readonly jitter: () => number;
  readonly onError: (source: string, error: unknown) => void;
}

/** Something that is kept for pods, and has to go with them. */
interface HeldForPods {
  forget(podUid: string): void;
}

export interface PodContent {
  readonly tokens: ServiceAccountTokens;
  readonly trustBundles: FollowedBundles;
  readonly podCaches: readonly HeldForPods[];
}

export function podContent(
  { client, pods, hasTrustBundles = false }: Pick<ClusterParts, 'client' | 'pods' | 'hasTrustBundles'>,
  parts: ContentParts,
): PodContent {
  const tokens = new ServiceAccountTokens({ ...parts, client, isGone: (pod) => pods.isGone(pod) });
  const trustBundles = hasTrustBundles ? new ClusterTrustBundles({ ...parts, client }) : noTrustBundles;
  return { tokens, trustBundles, podCaches: [tokens, trustBundles] };
}
