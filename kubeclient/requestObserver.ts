/**
 * Observes the requests of clients with the meaning that client-go gives to its metrics (`rest/request.go` and
 * `rest/with_retry.go`). No method may throw.
 */
export interface RequestObserver {
  /** A request has passed its client's rate limit after `ms` milliseconds, or its caller has stopped waiting for it. */
  throttled(method: string, ms: number): void;
  /** A request was sent. Called for each attempt and each watch. The code is undefined if there was no response. */
  attempted(attempt: RequestAttempt): void;
  /** The last response to a request other than a watch was read completely. */
  received(method: string, bytes: number): void;
  /** A request other than a watch has completed. `ms` includes all attempts, delays and the reading of the response. */
  completed(method: string, ms: number): void;
}

interface RequestAttempt {
  readonly method: string;
  readonly code?: number | undefined;
  readonly isRetry: boolean;
  /** Bytes of the body that was sent. Undefined for a watch. */
  readonly sentBytes?: number | undefined;
}
