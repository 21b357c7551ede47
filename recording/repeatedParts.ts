/**
 * Converts keyframes to and from their serialized form. In a keyframe, many actors refer to the same object, e.g. each
 * of a thousand containers to its pod. Each such object is written once, in a list, and references to it are indexes in
 * this list. Otherwise the size of the keyframe would grow with the square of the number of containers in a pod.
 */

import { isObject } from '../base/values/isObject.ts';
import { lookUp } from '../base/values/lookUp.ts';

/**
 * The only key of a reference. If the value is a number, the number is an index in `shared`. If the value is an object,
 * that object is an escaped original that itself has this key.
 */
const REFERENCE_KEY = '$shared';

export interface DeduplicatedValue {
  readonly value: unknown;
  /** The objects that are referenced by index. They may contain references themselves. */
  readonly shared: unknown[];
}

type PlainObject = Readonly<Record<string, unknown>>;

/**
 * Number of outer nesting levels whose objects are each processed in a separate step. Deeper objects, e.g. the context
 * of a pod's actor or the status of a container, are processed in a single step.
 */
const STEP_LEVELS = 7;

/**
 * Replaces each object that occurs repeatedly with a reference. Yields after short steps, so that a keyframe with
 * thousands of actors does not block the event loop.
 */
export function* replaceRepeatedObjects(value: unknown): Generator<void, DeduplicatedValue> {
  const repeatedObjects = yield* findRepeated(value);
  const indexByObject = new Map<object, number>();
  const sharedObjects: unknown[] = [];
  const replaceRepeats = (each: unknown): unknown => {
    if (!isObject(each)) return each;
    if (!repeatedObjects.has(each)) return escapeReference(mapValues(each, replaceRepeats));
    return createReference(each, () => mapValues(each, replaceRepeats));
  };
  const createReference = (each: object, content: () => unknown): unknown => {
    const existingIndex = indexByObject.get(each);
    if (existingIndex !== undefined) return { [REFERENCE_KEY]: existingIndex };
    const index = sharedObjects.push(null) - 1;
    indexByObject.set(each, index);
    sharedObjects[index] = escapeReference(content());
    return { [REFERENCE_KEY]: index };
  };
  function* replaceRepeatsInSteps(each: unknown, levels: number): Generator<void, unknown> {
    if (levels === 0 || !isObject(each) || repeatedObjects.has(each)) {
      yield;
      return replaceRepeats(each);
    }
    const convertedItems: [string, unknown][] = [];
    for (const [key, item] of Object.entries(each))
      convertedItems.push([key, yield* replaceRepeatsInSteps(item, levels - 1)]);
    return escapeReference(
      Array.isArray(each) ? convertedItems.map(([, item]) => item) : Object.fromEntries(convertedItems),
    );
  }
  return { value: yield* replaceRepeatsInSteps(value, STEP_LEVELS), shared: sharedObjects };
}

/** Wraps an object that looks like a reference, so that it is not restored as one. */
const escapeReference = (copy: unknown): unknown =>
  isObject(copy) && Object.hasOwn(copy, REFERENCE_KEY) ? { [REFERENCE_KEY]: copy } : copy;

/**
 * Maximum number of values in a keyframe with all references expanded. The largest pods reach a third of this. The
 * limit rejects a file whose references nest exponentially, because its keyframe would be fully expanded in any JSON
 * output.
 */
const MAX_EXPANDED_VALUES = 1e9;

/**
 * Maximum depth of a keyframe with all references expanded. It is limited because keyframes are processed recursively.
 */
const MAX_DEPTH = 1_000;

/** Number of values in a part of a keyframe with all references expanded, and their maximum depth. */
interface Extent {
  readonly size: number;
  readonly depth: number;
}

const LEAF_EXTENT: Extent = { size: 1, depth: 0 };
const UNBOUNDED_EXTENT: Extent = { size: Number.POSITIVE_INFINITY, depth: Number.POSITIVE_INFINITY };

/** Whether a keyframe is within the limits of size and depth. Visits each serialized value once. */
export function isWithinLimits({ value, shared: sharedObjects }: DeduplicatedValue): boolean {
  const extents = new Map<number, Extent>();
  const measureExtent = (each: unknown, level: number): Extent => {
    if (!isObject(each)) return LEAF_EXTENT;
    if (level > MAX_DEPTH) return UNBOUNDED_EXTENT;
    const referenceValue = Array.isArray(each) ? undefined : lookUp(each as PlainObject, REFERENCE_KEY);
    if (typeof referenceValue === 'number') return measureSharedExtent(referenceValue, level + 1);
    let { size, depth } = LEAF_EXTENT;
    for (const item of Object.values(each)) {
      const itemExtent = measureExtent(item, level + 1);
      size += itemExtent.size;
      depth = Math.max(depth, itemExtent.depth + 1);
    }
    return { size, depth };
  };
  const measureSharedExtent = (index: number, level: number): Extent => {
    const cachedExtent = extents.get(index);
    // Check the depth again, because an object that was measured at a shallower level may be too deep at this level.
    if (cachedExtent !== undefined) return level + cachedExtent.depth > MAX_DEPTH ? UNBOUNDED_EXTENT : cachedExtent;
    // Break a circular reference, which damaged data may contain. `restoreRepeatedObjects` restores it as null.
    extents.set(index, LEAF_EXTENT);
    const extent = measureExtent(sharedObjects[index], level);
    extents.set(index, extent);
    return extent;
  };
  return measureExtent(value, 0).size <= MAX_EXPANDED_VALUES;
}

/**
 * Reverses `replaceRepeatedObjects`. All references to an object yield the same object. A reference to a missing object
 * becomes null.
 */
export function restoreRepeatedObjects({ value, shared: sharedObjects }: DeduplicatedValue): unknown {
  const restoredObjects = new Map<number, unknown>();
  const restoreValue = (each: unknown): unknown => {
    if (!isObject(each)) return each;
    const reference =
      Object.hasOwn(each, REFERENCE_KEY) && !Array.isArray(each) ? (each as PlainObject)[REFERENCE_KEY] : undefined;
    if (typeof reference === 'number') return restoreShared(reference);
    return mapValues(isObject(reference) ? reference : each, restoreValue);
  };
  const restoreShared = (index: number): unknown => {
    if (!restoredObjects.has(index)) {
      // Break a circular reference, which damaged data may contain, by restoring it as null.
      restoredObjects.set(index, null);
      restoredObjects.set(index, restoreValue(sharedObjects[index] ?? null));
    }
    return restoredObjects.get(index);
  };
  return restoreValue(value);
}

/** Finds the non-empty objects that occur repeatedly. */
function* findRepeated(value: unknown): Generator<void, ReadonlySet<object>> {
  const visitedObjects = new Set<object>();
  const repeatedObjects = new Set<object>();
  /** Records an object. Returns whether this is its first occurrence. */
  const markVisited = (node: PlainObject | readonly unknown[]): boolean => {
    if (!visitedObjects.has(node)) return visitedObjects.add(node) === visitedObjects;
    if (Object.keys(node).length > 0) repeatedObjects.add(node);
    return false;
  };
  const visitValue = (node: unknown): void => {
    if (isObject(node) && markVisited(node)) for (const item of Object.values(node)) visitValue(item);
  };
  function* visitInSteps(node: unknown, levels: number): Generator<void, void> {
    if (levels === 0 || !isObject(node)) {
      yield;
      visitValue(node);
    } else if (markVisited(node)) for (const item of Object.values(node)) yield* visitInSteps(item, levels - 1);
  }
  yield* visitInSteps(value, STEP_LEVELS);
  return repeatedObjects;
}

const mapValues = (
  value: PlainObject | readonly unknown[],
  transform: (each: unknown) => unknown,
): PlainObject | readonly unknown[] =>
  Array.isArray(value)
    ? value.map(transform)
    : Object.fromEntries(Object.entries(value).map(([key, each]) => [key, transform(each)]));
