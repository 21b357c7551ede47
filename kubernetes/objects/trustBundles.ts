/** Defines how pods access the trust anchors of a cluster. */
import type { Pod } from '../api/schema/pod.ts';
import type { Projection } from '../environment/projection.ts';

export type TrustBundleProjection = NonNullable<Projection['clusterTrustBundle']>;

export interface TrustBundles {
  /**
   * Returns the trust anchors of a projection as PEM, or an empty string if the projection is optional and no anchors
   * exist. Rejects with an error whose message can be shown to users. If the anchors change later, the pod is notified.
   */
  get(pod: Pod, projection: TrustBundleProjection, options: { readonly signal: AbortSignal }): Promise<string>;
}
