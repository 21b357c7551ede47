/** The trust anchors of a cluster, as volumes show them. */
import type { Projection } from '../environment/projection.ts';

export interface TrustBundles {
  /**
   * The anchors that a projection names, as PEM; none of one that is optional are an empty text. Rejects with an error
   * whose message is for users.
   */
  get(
    projection: NonNullable<Projection['clusterTrustBundle']>,
    options: { readonly signal: AbortSignal },
  ): Promise<string>;
}
