/**
 * The written form of a keyframe, in which many actors refer to the same object, e.g. each of a thousand containers to its
 * pod. Such an object is written once, in a list, and every reference to it is its index in the list. Otherwise the keyframe
 * of a pod would grow with the square of its size.
 */

import { lookUp } from '../base/lookUp.ts';

/** The only key of an object that stands for another one. A number is an index; an object is one that has this key itself. */
const REFERENCE = '$shared';

export interface WithoutRepeats {
  readonly value: unknown;
  /** The objects that are referred to, by index. They may refer to others. */
  readonly shared: unknown[];
}

type Plain = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Plain | readonly unknown[] => typeof value === 'object' && value !== null;

/**
 * The levels of objects that are handled in steps of their own. Below them are the contexts of the actors of a pod, and the
 * statuses of containers.
 */
const LEVELS = 7;

/**
 * Replaces each object that occurs repeatedly in plain data by a reference, in short steps, because the keyframe of a node may
 * have thousands of actors.
 */
export function* withoutRepeats(value: unknown): Generator<void, WithoutRepeats> {
  const repeated = yield* repeatedIn(value);
  const indexes = new Map<object, number>();
  const shared: unknown[] = [];
  const written = (each: unknown): unknown => {
    if (!isObject(each)) return each;
    if (!repeated.has(each)) return withMarked(mapped(each, written));
    return reference(each, () => mapped(each, written));
  };
  const reference = (each: object, content: () => unknown): unknown => {
    const known = indexes.get(each);
    if (known !== undefined) return { [REFERENCE]: known };
    const index = shared.push(null) - 1;
    indexes.set(each, index);
    shared[index] = withMarked(content());
    return { [REFERENCE]: index };
  };
  function* inSteps(each: unknown, levels: number): Generator<void, unknown> {
    if (levels === 0 || !isObject(each) || repeated.has(each)) {
      yield;
      return written(each);
    }
    const items: [string, unknown][] = [];
    for (const [key, item] of Object.entries(each)) items.push([key, yield* inSteps(item, levels - 1)]);
    return withMarked(Array.isArray(each) ? items.map(([, item]) => item) : Object.fromEntries(items));
  }
  return { value: yield* inSteps(value, LEVELS), shared };
}

/** An object as it is written: one that looks like a reference is marked as none. */
const withMarked = (copy: unknown): unknown =>
  isObject(copy) && Object.hasOwn(copy, REFERENCE) ? { [REFERENCE]: copy } : copy;

/**
 * Maximum number of values that a keyframe is written out to if each reference counts with all that it refers to. The largest
 * pods reach a third of it. A file in which references nest exponentially is refused, because any text of its keyframe would
 * be as large.
 */
const MAX_EXPANDED = 1e9;

/** Maximum depth of a keyframe, with its references. It is read by recursion. */
const MAX_DEPTH = 1_000;

/** How many values a part of a keyframe is written out to, and how deep they nest. */
interface Extent {
  readonly size: number;
  readonly depth: number;
}

const LEAF: Extent = { size: 1, depth: 0 };
const UNBOUNDED: Extent = { size: Number.POSITIVE_INFINITY, depth: Number.POSITIVE_INFINITY };

/** Whether a keyframe is of a size and depth that a node can have. Looks at each written value once. */
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
    // Damaged data may refer to itself, which is read as null.
    extents.set(index, LEAF);
    const extent = extentOf(shared[index], level);
    extents.set(index, extent);
    return extent;
  };
  return extentOf(value, 0).size <= MAX_EXPANDED;
}

/** Reverses `withoutRepeats`, so that what was one object is one object again. A reference to nothing becomes null. */
export function withRepeats({ value, shared }: WithoutRepeats): unknown {
  const read = new Map<number, unknown>();
  const original = (each: unknown): unknown => {
    if (!isObject(each)) return each;
    const reference = Object.hasOwn(each, REFERENCE) && !Array.isArray(each) ? (each as Plain)[REFERENCE] : undefined;
    if (typeof reference === 'number') return at(reference);
    return mapped(isObject(reference) ? reference : each, original);
  };
  const at = (index: number): unknown => {
    if (!read.has(index)) {
      // Damaged data may refer to itself.
      read.set(index, null);
      read.set(index, original(shared[index] ?? null));
    }
    return read.get(index);
  };
  return original(value);
}

/** The objects that occur more than once, except for empty ones. */
function* repeatedIn(value: unknown): Generator<void, ReadonlySet<object>> {
  const seen = new Set<object>();
  const repeated = new Set<object>();
  /** Whether the object is seen for the first time. */
  const isNew = (each: Plain | readonly unknown[]): boolean => {
    if (!seen.has(each)) return seen.add(each) === seen;
    if (Object.keys(each).length > 0) repeated.add(each);
    return false;
  };
  const look = (each: unknown): void => {
    if (isObject(each) && isNew(each)) for (const item of Object.values(each)) look(item);
  };
  function* inSteps(each: unknown, levels: number): Generator<void, void> {
    if (levels === 0 || !isObject(each)) {
      yield;
      look(each);
    } else if (isNew(each)) for (const item of Object.values(each)) yield* inSteps(item, levels - 1);
  }
  yield* inSteps(value, LEVELS);
  return repeated;
}

const mapped = (value: Plain | readonly unknown[], to: (each: unknown) => unknown): Plain | readonly unknown[] =>
  Array.isArray(value)
    ? value.map(to)
    : Object.fromEntries(Object.entries(value).map(([key, each]) => [key, to(each)]));
