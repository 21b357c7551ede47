import type { Clock } from '../../base/clock.ts';

/** Does something under a signal, that of its caller if there is one, that also aborts when so many milliseconds are over. */
export async function withinLimit<T>(
  act: (signal: AbortSignal) => Promise<T>,
  { clock, timeoutMs, signal }: { clock: Clock; timeoutMs: number; signal?: AbortSignal },
): Promise<T> {
  const limit = new AbortController();
  const end = () => limit.abort();
  const timer = clock.setTimeout(end, timeoutMs);
  signal?.addEventListener('abort', end, { once: true });
  try {
    return await act(limit.signal);
  } finally {
    clock.clearTimeout(timer);
    signal?.removeEventListener('abort', end);
  }
}
