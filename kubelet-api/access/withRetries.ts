/** Retries reviews after temporary errors (`DefaultShouldRetry` in `pkg/util/webhook/webhook.go` of apiserver). */
import type { Clock } from '../../base/time/clock.ts';
import { KubeError } from '../../kubeclient/kubeError.ts';
import { pause } from '../../kubeclient/pause.ts';

/** Delays before the four retries, in milliseconds. Each delay is 1.5 times the previous one. */
const RETRY_DELAYS_MS = [500, 750, 1125, 1687] as const;
const TOO_MANY_REQUESTS = 429;
const INTERNAL_ERROR = 500;
/** Maximum depth of error causes to inspect. */
const MAX_CAUSE_DEPTH = 10;

/**
 * Calls a function and retries it after temporary errors. Rejects with the error of the last attempt, or when the
 * signal aborts.
 */
export async function withRetries<T>(
  attempt: () => Promise<T>,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<T> {
  for (const wait of RETRY_DELAYS_MS) {
    try {
      return await attempt();
    } catch (error) {
      if (signal.aborted || !isTemporaryError(error)) throw error;
      await pause(wait, clock, signal);
    }
  }
  return await attempt();
}

function isTemporaryError(error: unknown): boolean {
  if (error instanceof KubeError)
    return error.code === INTERNAL_ERROR || error.code === TOO_MANY_REQUESTS || error.retryAfterMs !== undefined;
  return isConnectionReset(error);
}

function isConnectionReset(error: unknown, depth = 0): boolean {
  if (!(error instanceof Error) || depth > MAX_CAUSE_DEPTH) return false;
  return ('code' in error && error.code === 'ECONNRESET') || isConnectionReset(error.cause, depth + 1);
}
