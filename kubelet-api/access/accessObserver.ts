/** What the metrics are told of the authentication and authorization of requests. */

/** Called by the cache of reviews. Each function returns the one to call at the end. */
export interface ReviewCacheObserver {
  /** A review is looked up. */
  lookedUp(): (isHit: boolean) => void;
  /** A caller waits for a review that is not in the cache. */
  blocked(): () => void;
  /** The API server is asked. */
  fetching(): (isAnswered: boolean) => void;
}

export interface AccessObserver {
  /** A request comes with a client certificate that expires after `remainingMs`. */
  certificateShown(remainingMs: number): void;
  /** The API server was asked for a review. `code` is undefined if it did not respond. */
  reviewed(kind: 'authn' | 'authz', code: number | undefined, ms: number): void;
  readonly tokenCache: ReviewCacheObserver;
}
