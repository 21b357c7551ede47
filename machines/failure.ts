import type { Failure } from '../pod/failure.ts';

/** The failure that an error event of a port carries: the boundary lets nothing else through. */
export function failureOf(event: { type: string; error?: unknown }): Failure {
  const error = event.error;
  if (isFailure(error)) return error;
  return {
    reason: 'InternalError',
    message: error instanceof Error ? error.message : String(error),
    retryable: true,
    at: 0,
  };
}

/** Whether the runtime itself was away, so that its return ends the wait. */
export const isRuntimeAway = (failure: Failure | undefined): boolean => failure?.reason === 'RuntimeUnavailable';

function isFailure(error: unknown): error is Failure {
  return typeof error === 'object' && error !== null && 'reason' in error && 'retryable' in error && 'at' in error;
}
