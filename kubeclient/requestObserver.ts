/**
 * Observes the requests of clients for metrics with the same meaning as those of client-go (`rest/request.go` and
 * `rest/with_retry.go`). No method may throw.
 */
export interface RequestObserver {
  /**
   * Called when a request has waited `ms` milliseconds for the rate limit of its client, even if its caller has stopped
   * waiting.
   */
  onRateLimited(method: string, ms: number): void;
  /** Called for each attempt of a request and for each watch. The code is undefined if there was no response. */
  onAttempt(attempt: RequestAttempt): void;
  /** Called when the last response to a request other than a watch has been read completely. */
  onResponse(method: string, bytes: number): void;
  /**
   * Called when a request other than a watch has completed. `ms` includes all attempts, delays and the reading of the
   * response.
   */
  onCompleted(method: string, ms: number): void;
}

interface RequestAttempt {
  readonly method: string;
  readonly code?: number | undefined;
  readonly isRetry: boolean;
  /** Number of bytes in the body of the request. Undefined for a watch. */
  readonly sentBytes?: number | undefined;
}
