import type { Clock } from '../../base/time/clock.ts';

/** Runs `act` with a signal that aborts after `timeoutMs`, or when the caller's signal does. */
export async function withTimeout<T>(
  act: (signal: AbortSignal) => Promise<T>,
  { clock, timeoutMs, signal }: { clock: Clock; timeoutMs: number; signal?: AbortSignal },
): Promise<T> {
  const limitController = new AbortController();
  const abort = () => limitController.abort();
  const timer = clock.setTimeout(abort, timeoutMs);
  signal?.addEventListener('abort', abort, { once: true });
  try {
    return await act(limitController.signal);
  } finally {
    clock.clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}
