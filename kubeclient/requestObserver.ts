/** The requests of clients as client-go counts them (`rest/request.go` and `rest/with_retry.go`). No method may throw. */
export interface RequestObserver {
  /** A request had its turn at the rate limit of its client, or its caller stopped waiting for that. */
  throttled(method: string, ms: number): void;
  /** A request was sent once, as each try and each watch is. The code is missing if there was no response. */
  attempted(attempt: RequestAttempt): void;
  /** The last response to a request other than a watch was read completely. */
  received(method: string, bytes: number): void;
  /** A request other than a watch is over, with all its tries, waits and the reading of its response. */
  completed(method: string, ms: number): void;
}

interface RequestAttempt {
  readonly method: string;
  readonly code?: number | undefined;
  readonly isRetry: boolean;
  /** Bytes of the body that was sent. Undefined for a watch. */
  readonly sentBytes?: number | undefined;
}
