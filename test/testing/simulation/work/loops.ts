/** Functions with a known amount of work. */
export function linear(size: number): number {
  let sum = 0;
  for (let index = 0; index < size; index += 1) sum += index;
  return sum;
}

export function quadratic(size: number): number {
  return Array.from({ length: size }, () => linear(size)).length;
}

/** Whether a list contains an item. The callback is so short that V8 would inline it. */
export const contains = (items: readonly number[], item: number): boolean => items.some((each) => each === item);
