/** Reviews are tried again where that may help (`DefaultShouldRetry` in `pkg/util/webhook/webhook.go` of apiserver). */
import type { Clock } from '../../kubeclient/clock.ts';
import { KubeError } from '../../kubeclient/kubeError.ts';
import { pause } from '../../kubeclient/pause.ts';

/** How long to wait before each further try, in milliseconds: five in all, each 1.5 times as long as the one before. */
const WAITS_MS = [500, 750, 1125, 1687] as const;
const TOO_MANY = 429;
const INTERNAL_ERROR = 500;
/** As far as the causes of an error are looked at. */
const DEEPEST = 10;

/** Rejects as the last try did, or once the signal aborts. */
export async function triedAgain<T>(
  act: () => Promise<T>,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<T> {
  for (const wait of WAITS_MS) {
    try {
      return await act();
    } catch (error) {
      if (signal.aborted || !mayPass(error)) throw error;
      await pause(wait, clock, signal);
    }
  }
  return await act();
}

function mayPass(error: unknown): boolean {
  if (error instanceof KubeError)
    return error.code === INTERNAL_ERROR || error.code === TOO_MANY || error.retryAfterMs !== undefined;
  return isReset(error);
}

function isReset(error: unknown, depth = 0): boolean {
  if (!(error instanceof Error) || depth > DEEPEST) return false;
  return ('code' in error && error.code === 'ECONNRESET') || isReset(error.cause, depth + 1);
}
