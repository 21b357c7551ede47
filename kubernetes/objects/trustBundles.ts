/** Defines access to the trust anchors of a cluster. */
import type { Pod } from '../api/schema/pod.ts';
import type { Projection } from '../environment/projection.ts';

export type TrustBundleProjection = NonNullable<Projection['clusterTrustBundle']>;

export interface TrustBundles {
  /**
   * Returns the anchors of a projection as PEM. The result is empty if the projection is optional and no anchors exist.
   * Rejects with an error whose message is for users. The pod is notified of later changes.
   */
  get(pod: Pod, projection: TrustBundleProjection, options: { readonly signal: AbortSignal }): Promise<string>;
}
