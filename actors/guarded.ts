/** A function that only looks on, such that what it throws goes to `onError` under its name and to nobody else. */
export function guarded<T>(
  name: string,
  look: (value: T) => void,
  onError: (source: string, error: unknown) => void,
): (value: T) => void {
  return (value) => {
    try {
      look(value);
    } catch (error) {
      onError(name, error);
    }
  };
}
