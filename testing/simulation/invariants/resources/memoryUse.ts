/** Measures the memory of an agent by the amounts of data that could grow over time. */
import type { AnyActorRef } from 'xstate';
import { isObject } from '../../../../base/values/isObject.ts';
import type { Watched } from '../invariant.ts';

/** Returns the number of actors in a tree. */
function countOf(ref: AnyActorRef): number {
  const { children = {} }: { children?: Record<string, AnyActorRef | undefined> } = ref.getSnapshot();
  return Object.values(children).reduce((sum, child) => sum + (child ? countOf(child) : 0), 1);
}

/** Counts by kind of data, e.g. `actors` or `timers`. */
export type MemoryUse = ReadonlyMap<string, number>;

/** Strings are counted in units of this many characters, so that differences between numbers or names do not matter. */
const LONG_TEXT = 1_024;

const lengthOf = (value: unknown): number => (typeof value === 'string' ? Math.floor(value.length / LONG_TEXT) : 0);

/** The last failure is not counted, because it has a fixed slot. */
const isLastFailure = (key: string, value: unknown): boolean =>
  key === 'failure' && isObject(value) && !Object.values(value).some((each) => isObject(each) || lengthOf(each) > 0);

/** The input of a call is not counted, because it disappears with the call. */
const isOfCall = (key: string, path: string): boolean => key === 'input' && path.endsWith('.snapshot');

/** Active states are not counted, because the chart limits their number. */
const isState = (key: string, path: string): boolean => key === 'value' && path.endsWith('.snapshot');

/**
 * Returns the key without a state. The key of an invoked actor contains its state, as in `0.garbage.waiting`, but all
 * its states share one slot.
 */
const slotOf = (key: string): string => key.replaceAll(/(?<=^|\/)(\d+)\.[^/]*/g, '$1');

/** A path in the counted data. It caches its strings, because building them takes longer than counting. */
class DataPath {
  readonly #path: string;
  readonly entries: string;
  readonly characters: string;
  readonly #below = new Map<string, DataPath>();

  constructor(path: string) {
    this.#path = path;
    this.entries = `entries in ${path}`;
    this.characters = `times ${LONG_TEXT} characters in ${path}`;
  }

  isExcluded(key: string, value: unknown): boolean {
    return isLastFailure(key, value) || isOfCall(key, this.#path) || isState(key, this.#path);
  }

  child(key: string): DataPath {
    const known = this.#below.get(key);
    if (known !== undefined) return known;
    const place = new DataPath(`${this.#path}.${slotOf(key)}`);
    this.#below.set(key, place);
    return place;
  }
}

/** Counts the entries of each list and map, and the long strings, by path. */
class Counter {
  readonly #root: string;
  #top: DataPath;
  #checks = 0;

  constructor(root: string) {
    this.#root = root;
    this.#top = new DataPath(root);
  }

  /** Adds the counts of `value` to `counts`. */
  count(value: unknown, counts: Map<string, number>): void {
    this.#checks += 1;
    // Drop the cached names of paths that no longer exist.
    if (this.#checks % NAME_CACHE_CHECKS === 0) this.#top = new DataPath(this.#root);
    countIn(value, this.#top, counts);
  }
}

/** Number of checks after which the cached names are dropped. */
const NAME_CACHE_CHECKS = 100;

function countIn(value: unknown, place: DataPath, counts: Map<string, number>): void {
  if (lengthOf(value) > 0) add(counts, place.characters, lengthOf(value));
  if (!isObject(value)) return;
  let entries = 0;
  // Own keys only, as in JSON. For an array these are its indexes.
  for (const [key, each] of Object.entries(value)) {
    if (place.isExcluded(key, each)) continue;
    entries += 1;
    if (isObject(each) || lengthOf(each) > 0) countIn(each, place.child(key), counts);
  }
  add(counts, place.entries, entries);
}

const add = (counts: Map<string, number>, kind: string, count: number): void =>
  void counts.set(kind, (counts.get(kind) ?? 0) + count);

const keyframes = new Counter('keyframe');

/** Returns the number of lists, maps and long strings in a value. */
export function countContainers(value: unknown): number {
  const below = isObject(value)
    ? Object.values(value).reduce((sum: number, each) => sum + countContainers(each), 1)
    : 0;
  return below + (lengthOf(value) > 0 ? 1 : 0);
}

/** Returns the memory use of the running agent, or undefined if none is running. */
export function memoryUseOf({ root, agent, timers }: Watched): MemoryUse | undefined {
  if (root === undefined || agent === undefined) return undefined;
  const counts = new Map([
    ['actors', countOf(root)],
    ['timers', timers],
  ]);
  keyframes.count(agent.keyframe(), counts);
  return counts;
}

/** States of the root machine before every source has been read. The node needs more memory in them than later. */
const STARTING_STATES: readonly unknown[] = ['starting', 'awaitingSources', 'partial'];

/**
 * Whether the node is still starting. This includes the deletion of ResourceSlices, which is retried while the API
 * server is unavailable.
 */
export const isStarting = ({ root }: Watched): boolean => {
  const snapshot = root?.getSnapshot();
  const claims: AnyActorRef | undefined = snapshot?.children?.claims;
  const isDeletingSlices = claims?.getSnapshot().children?.slices !== undefined;
  return STARTING_STATES.includes(snapshot?.value) || isDeletingSlices;
};
