import { type Failure, messageOf } from '../../base/failure.ts';

/** The failure that an error event of a port carries: the boundary lets nothing else through. */
export function failureOf(event: { type: string; error?: unknown }): Failure {
  const error = event.error;
  if (isFailure(error)) return error;
  return {
    reason: 'InternalError',
    message: messageOf(error),
    at: 0,
  };
}

/** How soon to try again what failed because the runtime was away; its return ends the wait at once. */
export const RUNTIME_AWAY_MS = 1_000;
/** How soon to try again what the runtime refused: the kubelet's wait after a failed sync. */
export const REFUSED_MS = 10_000;

/** The wait after a failed call. */
export const retryAfter = (failure: Failure): { failure: Failure; retryAt: number } => ({
  failure,
  retryAt: failure.at + (isRuntimeAway(failure) ? RUNTIME_AWAY_MS : REFUSED_MS),
});

/** How soon after a failure to try again because what was lacking may be there: however often that changes. */
export const CHANGED_MS = 1_000;

/** When to try again as something has changed since a failure: at once, unless that was just now. */
export const afterChange = ({
  failure,
  retryAt,
}: {
  readonly failure?: Failure | undefined;
  readonly retryAt: number;
}): number => (failure === undefined ? retryAt : Math.min(retryAt, failure.at + CHANGED_MS));

/** Whether the runtime itself was away, so that its return ends the wait. */
export const isRuntimeAway = (failure: Failure | undefined): boolean => failure?.reason === 'RuntimeUnavailable';

function isFailure(error: unknown): error is Failure {
  return typeof error === 'object' && error !== null && 'reason' in error && 'message' in error && 'at' in error;
}
