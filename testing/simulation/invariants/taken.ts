/** How much an agent takes up: what of it could grow with how long it has run. */

import type { AnyActorRef } from 'xstate';
import { isObject } from '../../../base/isObject.ts';
import type { Watched } from './invariant.ts';

/** How many actors there are, with the one given. */
function countOf(ref: AnyActorRef): number {
  const { children = {} }: { children?: Record<string, AnyActorRef | undefined> } = ref.getSnapshot();
  return Object.values(children).reduce((sum, child) => sum + (child ? countOf(child) : 0), 1);
}

/** How much an agent takes up, of each thing by its name. */
export type Taken = ReadonlyMap<string, number>;

/** A text counts from so many characters on: one with another number or name in it has not grown. */
const LONG_TEXT = 1_024;

const lengthOf = (value: unknown): number => (typeof value === 'string' ? Math.floor(value.length / LONG_TEXT) : 0);

/** A last failure is one slot: where there was none before, nothing has grown. */
const isLastFailure = (key: string, value: unknown): boolean =>
  key === 'failure' && isObject(value) && !Object.values(value).some((each) => isObject(each) || lengthOf(each) > 0);

/** What a call that is just under way was given goes with that. */
const isOfCall = (key: string, path: string): boolean => key === 'input' && path.endsWith('.snapshot');

/** Which states a chart is in is as much as the chart has: one state has states below it, another has none. */
const isState = (key: string, path: string): boolean => key === 'value' && path.endsWith('.snapshot');

/** What a state invokes is called after it, `0.garbage.waiting`: it is the same slot in another state. */
const slotOf = (key: string): string => key.replaceAll(/(?<=^|\/)(\d+)\.[^/]*/g, '$1');

/** A place in what is counted, with its names as texts: to put these together for every look takes longer than to count. */
class Place {
  readonly #path: string;
  readonly entries: string;
  readonly characters: string;
  readonly #below = new Map<string, Place>();

  constructor(path: string) {
    this.#path = path;
    this.entries = `entries in ${path}`;
    this.characters = `times ${LONG_TEXT} characters in ${path}`;
  }

  isLeftOut(key: string, value: unknown): boolean {
    return isLastFailure(key, value) || isOfCall(key, this.#path) || isState(key, this.#path);
  }

  below(key: string): Place {
    const known = this.#below.get(key);
    if (known !== undefined) return known;
    const place = new Place(`${this.#path}.${slotOf(key)}`);
    this.#below.set(key, place);
    return place;
  }
}

/** Counts how many entries each list and each map has, by where it is. */
class Counter {
  readonly #root: string;
  #top: Place;
  #looks = 0;

  constructor(root: string) {
    this.#root = root;
    this.#top = new Place(root);
  }

  /** Adds what a value has. */
  count(value: unknown, taken: Map<string, number>): void {
    this.#looks += 1;
    // Of what is gone nobody needs the names.
    if (this.#looks % NAMES_FOR === 0) this.#top = new Place(this.#root);
    countIn(value, this.#top, taken);
  }
}

/** So many looks share their names. */
const NAMES_FOR = 100;

function countIn(value: unknown, place: Place, taken: Map<string, number>): void {
  if (lengthOf(value) > 0) add(taken, place.characters, lengthOf(value));
  if (!isObject(value)) return;
  let entries = 0;
  // Own keys alone, as of JSON: in an array their numbers.
  for (const [key, each] of Object.entries(value)) {
    if (place.isLeftOut(key, each)) continue;
    entries += 1;
    if (isObject(each) || lengthOf(each) > 0) countIn(each, place.below(key), taken);
  }
  add(taken, place.entries, entries);
}

const add = (taken: Map<string, number>, what: string, count: number): void =>
  void taken.set(what, (taken.get(what) ?? 0) + count);

const keyframes = new Counter('keyframe');

/** How many lists and maps there are in a value, and long texts. */
export function placesIn(value: unknown): number {
  const below = isObject(value) ? Object.values(value).reduce((sum: number, each) => sum + placesIn(each), 1) : 0;
  return below + (lengthOf(value) > 0 ? 1 : 0);
}

/** What the living agent takes up now; undefined where none lives. */
export function takenBy({ root, agent, timers }: Watched): Taken | undefined {
  if (root === undefined || agent === undefined) return undefined;
  const taken = new Map([
    ['actors', countOf(root)],
    ['timers', timers],
  ]);
  keyframes.count(agent.keyframe(), taken);
  return taken;
}

/** Until every source has been read a node does what it need not do any more later on. */
const BEGINNING: readonly unknown[] = ['starting', 'recovering', 'partial'];

export const isBeginning = ({ root }: Watched): boolean => BEGINNING.includes(root?.getSnapshot().value);
