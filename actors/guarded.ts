/** A function that only looks on, such that what it throws goes to `onError` under its name and to nobody else. */
export function guarded<T, Answer>(
  name: string,
  look: (value: T) => Answer,
  onError: (source: string, error: unknown) => void,
): (value: T) => Answer | undefined {
  return (value) => {
    try {
      return look(value);
    } catch (error) {
      onError(name, error);
      return undefined;
    }
  };
}

/** Whether it was done: what it throws goes to `onError` under the name and to nobody else. */
export function done(name: string, act: () => void, onError: (source: string, error: unknown) => void): boolean {
  try {
    act();
    return true;
  } catch (error) {
    onError(name, error);
    return false;
  }
}
