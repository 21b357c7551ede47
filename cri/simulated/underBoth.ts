/**
 * Runs `act` with a signal that aborts as soon as one of these two does, for the same reason. Unlike one of `AbortSignal.any` it does not
 * depend on when garbage is collected, and nothing of it is left on a signal that lives long.
 */
export async function underBoth<T>(
  one: AbortSignal,
  other: AbortSignal,
  act: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const both = new AbortController();
  const abortAs = ({ reason }: AbortSignal) => both.abort(reason);
  const abortAsOne = () => abortAs(one);
  const abortAsOther = () => abortAs(other);
  if (one.aborted) abortAsOne();
  else if (other.aborted) abortAsOther();
  one.addEventListener('abort', abortAsOne);
  other.addEventListener('abort', abortAsOther);
  try {
    return await act(both.signal);
  } finally {
    one.removeEventListener('abort', abortAsOne);
    other.removeEventListener('abort', abortAsOther);
  }
}
