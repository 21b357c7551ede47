/**
 * Memoizes a function whose only argument is an object. The object must never be modified, and its result is
 * garbage-collected together with it.
 */
export function memoize<Key extends object, Value extends object>(compute: (key: Key) => Value): (key: Key) => Value {
  const cache = new WeakMap<Key, Value>();
  return (key) => {
    const value = cache.get(key) ?? compute(key);
    cache.set(key, value);
    return value;
  };
}
