import { type Failure, messageOf } from '../../base/failure.ts';

/** Returns the failure in an error event of a port. The boundary converts all errors to failures. */
export function failureOf(event: { type: string; error?: unknown }): Failure {
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
export const RUNTIME_AWAY_MS = 1_000;
/**
 * Retry interval in milliseconds after a refusal by the runtime, which equals the kubelet's interval after a failed
 * sync.
 */
export const REFUSED_MS = 10_000;

export const retryAfter = (failure: Failure): { failure: Failure; retryAt: number } => ({
  failure,
  retryAt: failure.at + (isRuntimeAway(failure) ? RUNTIME_AWAY_MS : REFUSED_MS),
});

/**
 * Minimum interval in milliseconds between a failure and a retry that is triggered by a change of referenced objects.
 */
export const CHANGED_MS = 1_000;

/** Returns the time of a retry after a change: at once, but not before the minimum interval has passed. */
export const afterChange = ({
  failure,
  retryAt,
}: {
  readonly failure?: Failure | undefined;
  readonly retryAt: number;
}): number => (failure === undefined ? retryAt : Math.min(retryAt, failure.at + CHANGED_MS));

/** Whether the runtime was unavailable, in which case the wait ends when it is available again. */
export const isRuntimeAway = (failure: Failure | undefined): boolean => failure?.reason === 'RuntimeUnavailable';

function isFailure(error: unknown): error is Failure {
  return typeof error === 'object' && error !== null && 'reason' in error && 'message' in error && 'at' in error;
}
