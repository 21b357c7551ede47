import { type Failure, messageOf } from '../../../base/failure.ts';

/** An error event of a port, or an event that reports another failure. */
export interface FailureEvent {
  readonly type: string;
  readonly error?: unknown;
}

/** Returns the failure in an error event of a port. The boundary converts all errors to failures. */
export function failureOf(event: FailureEvent): Failure {
  const error = event.error;
  if (isFailure(error)) return error;
  return {
    reason: 'InternalError',
    message: messageOf(error),
    at: 0,
  };
}

/**
 * Retry interval in milliseconds after a failure due to an unavailable runtime. The wait ends early when the runtime is
 * available again.
 */
export const RUNTIME_RETRY_MS = 1_000;
/**
 * Retry interval in milliseconds after a refusal by the runtime. It equals the kubelet's interval after a failed sync.
 */
export const REFUSAL_RETRY_MS = 10_000;

export const retryFields = (failure: Failure): { failure: Failure; retryAt: number } => ({
  failure,
  retryAt: failure.at + (isRuntimeUnavailable(failure) ? RUNTIME_RETRY_MS : REFUSAL_RETRY_MS),
});

/**
 * Minimum interval in milliseconds between a failure and a retry that is triggered by a change to referenced objects.
 */
export const CHANGE_RETRY_MS = 1_000;

/**
 * Returns the time of a retry after referenced objects have changed. The retry is immediate if the minimum interval has
 * already passed.
 */
export const retryAtAfterChange = ({
  failure,
  retryAt,
}: {
  readonly failure?: Failure | undefined;
  readonly retryAt: number;
}): number => (failure === undefined ? retryAt : Math.min(retryAt, failure.at + CHANGE_RETRY_MS));

/** Whether the runtime was unavailable, in which case the wait ends when it is available again. */
export const isRuntimeUnavailable = (failure: Failure | undefined): boolean => failure?.reason === 'RuntimeUnavailable';

function isFailure(error: unknown): error is Failure {
  return typeof error === 'object' && error !== null && 'reason' in error && 'message' in error && 'at' in error;
}
