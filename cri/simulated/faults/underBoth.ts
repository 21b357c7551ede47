/**
 * Runs `act` with a signal that aborts as soon as either signal does, with the same reason. Unlike `AbortSignal.any`,
 * this does not depend on garbage collection, and it leaves no listeners on long-lived signals.
 */
export async function withEitherSignal<T>(
  first: AbortSignal,
  second: AbortSignal,
  act: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const combined = new AbortController();
  const abortAs = ({ reason }: AbortSignal) => combined.abort(reason);
  const abortAsFirst = () => abortAs(first);
  const abortAsSecond = () => abortAs(second);
  if (first.aborted) abortAsFirst();
  else if (second.aborted) abortAsSecond();
  first.addEventListener('abort', abortAsFirst);
  second.addEventListener('abort', abortAsSecond);
  try {
    return await act(combined.signal);
  } finally {
    first.removeEventListener('abort', abortAsFirst);
    second.removeEventListener('abort', abortAsSecond);
  }
}
