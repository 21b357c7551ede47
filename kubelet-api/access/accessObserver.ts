/** Observes the cache of reviews. Each method returns a function that must be called when the operation completes. */
export interface ReviewCacheObserver {
  /**
   * Called when a review is looked up in the cache. The returned function must be called with the result of the lookup.
   */
  startLookup(): (isHit: boolean) => void;
  /**
   * Called when a request has to wait for a review that is not cached. The returned function must be called when the
   * wait ends.
   */
  startWaiting(): () => void;
  /**
   * Called when a review is requested from the API server. The returned function must be called when the request
   * completes.
   */
  startFetch(): (hasResponse: boolean) => void;
}

export interface AccessObserver {
  /** Called when a request has a client certificate that expires after `remainingMs`. */
  certificatePresented(remainingMs: number): void;
  /** Called after a review request to the API server. `code` is undefined if the server did not respond. */
  reviewCompleted(kind: 'authn' | 'authz', code: number | undefined, ms: number): void;
  readonly tokenCache: ReviewCacheObserver;
}
