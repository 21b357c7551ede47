/**
 * Memoizes a function of one object. Arguments must never change in place. A result is released together with its
 * argument.
 */
export function memoize<Key extends object, Value extends object>(compute: (key: Key) => Value): (key: Key) => Value {
  const cache = new WeakMap<Key, Value>();
  return (key) => {
    const value = cache.get(key) ?? compute(key);
    cache.set(key, value);
    return value;
  };
}
