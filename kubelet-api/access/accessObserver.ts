/** Observers of authentication and authorization, for the metrics. */

/** Called by the cache of reviews. Each function returns a callback for the end of the operation. */
export interface ReviewCacheObserver {
  /** A review is looked up in the cache. */
  lookedUp(): (isHit: boolean) => void;
  /** A request waits for a review that is not in the cache. */
  blocked(): () => void;
  /** A review is requested from the API server. */
  fetching(): (isAnswered: boolean) => void;
}

export interface AccessObserver {
  /** A request comes with a client certificate that expires after `remainingMs`. */
  certificateShown(remainingMs: number): void;
  /** The API server was asked for a review. `code` is undefined if it did not respond. */
  reviewed(kind: 'authn' | 'authz', code: number | undefined, ms: number): void;
  readonly tokenCache: ReviewCacheObserver;
}
