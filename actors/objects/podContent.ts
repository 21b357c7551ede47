/** Provides service account tokens and trust bundles for the pods of a cluster. */
import type { Clock } from '../../base/time/clock.ts';
import type { ClusterParts } from '../node/nodeParts.ts';
import { ClusterTrustBundles, noTrustBundles, type WatchedBundles } from './clusterTrustBundles.ts';
import { ServiceAccountTokens } from './tokens/serviceAccountTokens.ts';

interface PodContentDependencies {
  readonly clock: Clock;
  readonly jitter: () => number;
  readonly onError: (source: string, error: unknown) => void;
}

/** A cache of per-pod data that must be cleared when the pod is removed. */
interface PodCaches {
  forget(podUid: string): void;
}

export interface PodContent {
  readonly tokens: ServiceAccountTokens;
  readonly trustBundles: WatchedBundles;
  readonly podCaches: readonly PodCaches[];
}

export function podContent(
  { client, pods, hasTrustBundles = false }: Pick<ClusterParts, 'client' | 'pods' | 'hasTrustBundles'>,
  dependencies: PodContentDependencies,
): PodContent {
  const tokens = new ServiceAccountTokens({ ...dependencies, client, isGone: (pod) => pods.isGone(pod) });
  const trustBundles = hasTrustBundles ? new ClusterTrustBundles({ ...dependencies, client }) : noTrustBundles;
  return { tokens, trustBundles, podCaches: [tokens, trustBundles] };
}
