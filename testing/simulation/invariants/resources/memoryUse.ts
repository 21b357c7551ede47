/** The memory of an agent, measured by the data that could grow over time. */
import type { AnyActorRef } from 'xstate';
import { isObject } from '../../../../base/values/isObject.ts';
import type { Watched } from '../invariant.ts';

/** The number of actors in a tree. */
function countOf(ref: AnyActorRef): number {
  const { children = {} }: { children?: Record<string, AnyActorRef | undefined> } = ref.getSnapshot();
  return Object.values(children).reduce((sum, child) => sum + (child ? countOf(child) : 0), 1);
}

/** Counts by kind of data. */
export type MemoryUse = ReadonlyMap<string, number>;

/** Strings are counted in units of this many characters, so that different numbers or names make no difference. */
const LONG_TEXT = 1_024;

const lengthOf = (value: unknown): number => (typeof value === 'string' ? Math.floor(value.length / LONG_TEXT) : 0);

/** The last failure is a fixed slot, so its appearance is no growth. */
const isLastFailure = (key: string, value: unknown): boolean =>
  key === 'failure' && isObject(value) && !Object.values(value).some((each) => isObject(each) || lengthOf(each) > 0);

/** The input of a call in progress disappears with the call. */
const isOfCall = (key: string, path: string): boolean => key === 'input' && path.endsWith('.snapshot');

/** The number of active states is limited by the chart. */
const isState = (key: string, path: string): boolean => key === 'value' && path.endsWith('.snapshot');

/** The key of an invoked actor contains its state, as in `0.garbage.waiting`. All states share one slot. */
const slotOf = (key: string): string => key.replaceAll(/(?<=^|\/)(\d+)\.[^/]*/g, '$1');

/** A path in the counted data. Its strings are cached, because building them takes longer than counting. */
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

/** Counts the entries of each list and map, by path. */
class Counter {
  readonly #root: string;
  #top: DataPath;
  #checks = 0;

  constructor(root: string) {
    this.#root = root;
    this.#top = new DataPath(root);
  }

  /** Adds the counts of a value. */
  count(value: unknown, taken: Map<string, number>): void {
    this.#checks += 1;
    // Drop the cached names of paths that no longer exist.
    if (this.#checks % NAME_CACHE_CHECKS === 0) this.#top = new DataPath(this.#root);
    countIn(value, this.#top, taken);
  }
}

/** The cached names are dropped after this many checks. */
const NAME_CACHE_CHECKS = 100;

function countIn(value: unknown, place: DataPath, taken: Map<string, number>): void {
  if (lengthOf(value) > 0) add(taken, place.characters, lengthOf(value));
  if (!isObject(value)) return;
  let entries = 0;
  // Own keys only, as in JSON. For an array these are its indexes.
  for (const [key, each] of Object.entries(value)) {
    if (place.isExcluded(key, each)) continue;
    entries += 1;
    if (isObject(each) || lengthOf(each) > 0) countIn(each, place.child(key), taken);
  }
  add(taken, place.entries, entries);
}

const add = (taken: Map<string, number>, what: string, count: number): void =>
  void taken.set(what, (taken.get(what) ?? 0) + count);

const keyframes = new Counter('keyframe');

/** The number of lists, maps and long strings in a value. */
export function countContainers(value: unknown): number {
  const below = isObject(value)
    ? Object.values(value).reduce((sum: number, each) => sum + countContainers(each), 1)
    : 0;
  return below + (lengthOf(value) > 0 ? 1 : 0);
}

/** The memory of the running agent, or undefined if none is running. */
export function memoryUseOf({ root, agent, timers }: Watched): MemoryUse | undefined {
  if (root === undefined || agent === undefined) return undefined;
  const taken = new Map([
    ['actors', countOf(root)],
    ['timers', timers],
  ]);
  keyframes.count(agent.keyframe(), taken);
  return taken;
}

/** The states before every source has been read, in which a node needs more than later. */
const STARTING_STATES: readonly unknown[] = ['starting', 'awaitingSources', 'partial'];

/** Whether the node is starting. ResourceSlices are deleted once, which is retried for as long as the server is away. */
export const isStarting = ({ root }: Watched): boolean => {
  const snapshot = root?.getSnapshot();
  const claims: AnyActorRef | undefined = snapshot?.children?.claims;
  const isDeletingSlices = claims?.getSnapshot().children?.slices !== undefined;
  return STARTING_STATES.includes(snapshot?.value) || isDeletingSlices;
};
