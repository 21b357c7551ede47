/**
 * The written form of a keyframe, in which many actors refer to the same object, e.g. each of a thousand containers to
 * its pod. Such an object is written once, in a list, and every reference to it is its index in the list. Otherwise the
 * size of the keyframe would grow with the square of the number of containers in a pod.
 */

import { isObject } from '../base/isObject.ts';
import { lookUp } from '../base/lookUp.ts';

/**
 * The only key of a reference. A number is an index in `shared`. An object is an original object that has this key
 * itself.
 */
const REFERENCE = '$shared';

export interface WithoutRepeats {
  readonly value: unknown;
  /** The referenced objects, by index. They may contain references. */
  readonly shared: unknown[];
}

type Plain = Readonly<Record<string, unknown>>;

/**
 * Number of levels whose objects are processed in separate steps. Below them are the contexts of the actors of a pod,
 * and the statuses of containers.
 */
const STEP_LEVELS = 7;

/**
 * Replaces each object that occurs repeatedly in plain data with a reference, in short steps, because the keyframe of a
 * node may have thousands of actors.
 */
export function* withoutRepeats(value: unknown): Generator<void, WithoutRepeats> {
  const repeated = yield* findRepeated(value);
  const indexes = new Map<object, number>();
  const shared: unknown[] = [];
  const write = (each: unknown): unknown => {
    if (!isObject(each)) return each;
    if (!repeated.has(each)) return escaped(mapValues(each, write));
    return reference(each, () => mapValues(each, write));
  };
  const reference = (each: object, content: () => unknown): unknown => {
    const existing = indexes.get(each);
    if (existing !== undefined) return { [REFERENCE]: existing };
    const index = shared.push(null) - 1;
    indexes.set(each, index);
    shared[index] = escaped(content());
    return { [REFERENCE]: index };
  };
  function* writeInSteps(each: unknown, levels: number): Generator<void, unknown> {
    if (levels === 0 || !isObject(each) || repeated.has(each)) {
      yield;
      return write(each);
    }
    const items: [string, unknown][] = [];
    for (const [key, item] of Object.entries(each)) items.push([key, yield* writeInSteps(item, levels - 1)]);
    return escaped(Array.isArray(each) ? items.map(([, item]) => item) : Object.fromEntries(items));
  }
  return { value: yield* writeInSteps(value, STEP_LEVELS), shared };
}

/** Wraps an object that looks like a reference, so that it is not read as one. */
const escaped = (copy: unknown): unknown =>
  isObject(copy) && Object.hasOwn(copy, REFERENCE) ? { [REFERENCE]: copy } : copy;

/**
 * Maximum number of values in a keyframe after all references are expanded. The largest pods reach a third of it. A
 * file whose references nest exponentially is rejected, because any JSON of its keyframe would be as large.
 */
const MAX_EXPANDED = 1e9;

/** Maximum depth of a keyframe including its references, because it is read recursively. */
const MAX_DEPTH = 1_000;

/** Number of values in a part of a keyframe after expansion, and their maximum depth. */
interface Extent {
  readonly size: number;
  readonly depth: number;
}

const LEAF: Extent = { size: 1, depth: 0 };
const UNBOUNDED: Extent = { size: Number.POSITIVE_INFINITY, depth: Number.POSITIVE_INFINITY };

/** Whether a keyframe is within the limits of size and depth. Visits each written value once. */
export function isBounded({ value, shared }: WithoutRepeats): boolean {
  const extents = new Map<number, Extent>();
  const extentOf = (each: unknown, level: number): Extent => {
    if (!isObject(each)) return LEAF;
    if (level > MAX_DEPTH) return UNBOUNDED;
    const reference = Array.isArray(each) ? undefined : lookUp(each as Plain, REFERENCE);
    if (typeof reference === 'number') return extentAt(reference, level + 1);
    let { size, depth } = LEAF;
    for (const item of Object.values(each)) {
      const inner = extentOf(item, level + 1);
      size += inner.size;
      depth = Math.max(depth, inner.depth + 1);
    }
    return { size, depth };
  };
  const extentAt = (index: number, level: number): Extent => {
    const known = extents.get(index);
    // A part that was measured at a lower level may be too deep at this one.
    if (known !== undefined) return level + known.depth > MAX_DEPTH ? UNBOUNDED : known;
    // Damaged data may contain a circular reference, which `withRepeats` reads as null.
    extents.set(index, LEAF);
    const extent = extentOf(shared[index], level);
    extents.set(index, extent);
    return extent;
  };
  return extentOf(value, 0).size <= MAX_EXPANDED;
}

/** Reverses `withoutRepeats`. All references to an object yield the same object. A dangling reference becomes null. */
export function withRepeats({ value, shared }: WithoutRepeats): unknown {
  const restored = new Map<number, unknown>();
  const restore = (each: unknown): unknown => {
    if (!isObject(each)) return each;
    const reference = Object.hasOwn(each, REFERENCE) && !Array.isArray(each) ? (each as Plain)[REFERENCE] : undefined;
    if (typeof reference === 'number') return restoreShared(reference);
    return mapValues(isObject(reference) ? reference : each, restore);
  };
  const restoreShared = (index: number): unknown => {
    if (!restored.has(index)) {
      // Damaged data may contain a circular reference, which is restored as null.
      restored.set(index, null);
      restored.set(index, restore(shared[index] ?? null));
    }
    return restored.get(index);
  };
  return restore(value);
}

/** Finds the non-empty objects that occur more than once. */
function* findRepeated(value: unknown): Generator<void, ReadonlySet<object>> {
  const visited = new Set<object>();
  const repeated = new Set<object>();
  /** Records an object. Returns whether the object occurs for the first time. */
  const isNew = (node: Plain | readonly unknown[]): boolean => {
    if (!visited.has(node)) return visited.add(node) === visited;
    if (Object.keys(node).length > 0) repeated.add(node);
    return false;
  };
  const visit = (node: unknown): void => {
    if (isObject(node) && isNew(node)) for (const item of Object.values(node)) visit(item);
  };
  function* visitInSteps(node: unknown, levels: number): Generator<void, void> {
    if (levels === 0 || !isObject(node)) {
      yield;
      visit(node);
    } else if (isNew(node)) for (const item of Object.values(node)) yield* visitInSteps(item, levels - 1);
  }
  yield* visitInSteps(value, STEP_LEVELS);
  return repeated;
}

const mapValues = (
  value: Plain | readonly unknown[],
  transform: (each: unknown) => unknown,
): Plain | readonly unknown[] =>
  Array.isArray(value)
    ? value.map(transform)
    : Object.fromEntries(Object.entries(value).map(([key, each]) => [key, transform(each)]));
