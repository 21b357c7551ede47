/**
 * Runs `act` with a signal that aborts as soon as one of these two does. Unlike one of `AbortSignal.any` it does not
 * depend on when garbage is collected, and nothing of it is left on a signal that lives long.
 */
export async function underBoth<T>(
  one: AbortSignal,
  other: AbortSignal,
  act: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const both = new AbortController();
  const abort = () => both.abort();
  if (one.aborted || other.aborted) abort();
  one.addEventListener('abort', abort);
  other.addEventListener('abort', abort);
  try {
    return await act(both.signal);
  } finally {
    one.removeEventListener('abort', abort);
    other.removeEventListener('abort', abort);
  }
}
