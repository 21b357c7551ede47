/** The trust anchors of a cluster, as volumes show them. */
import type { Pod } from '../api/schema/pod.ts';
import type { Projection } from '../environment/projection.ts';

export type TrustBundleProjection = NonNullable<Projection['clusterTrustBundle']>;

export interface TrustBundles {
  /**
   * The anchors that a projection names, as PEM; none of one that is optional are an empty text. Rejects with an error
   * whose message is for users. The pod is told when they are others.
   */
  get(pod: Pod, projection: TrustBundleProjection, options: { readonly signal: AbortSignal }): Promise<string>;
}
