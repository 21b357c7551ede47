/**
 * Wraps `fn` so that its exceptions are reported to `onError` under `name` instead of being thrown. If `fn` throws, the
 * wrapper returns undefined.
 */
export function withErrorHandler<T, Result>(
  name: string,
  fn: (value: T) => Result,
  onError: (source: string, error: unknown) => void,
): (value: T) => Result | undefined {
  return (value) => {
    try {
      return fn(value);
    } catch (error) {
      onError(name, error);
      return undefined;
    }
  };
}

/** Calls `act`, reports an exception to `onError` under `name`, and returns whether the call succeeded. */
export function tryRun(name: string, act: () => void, onError: (source: string, error: unknown) => void): boolean {
  try {
    act();
    return true;
  } catch (error) {
    onError(name, error);
    return false;
  }
}
