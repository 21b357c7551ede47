/** How much an agent takes up: what of it could grow with how long it has run. */
import type { AnyActorRef } from 'xstate';
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

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
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

/** How many entries each list and each map has, by where it is. */
export function* entriesIn(value: unknown, path: string): Generator<readonly [string, number]> {
  if (lengthOf(value) > 0) yield [`times ${LONG_TEXT} characters in ${path}`, lengthOf(value)];
  if (!isObject(value)) return;
  const entries = Object.entries(value).filter(
    ([key, each]) => !isLastFailure(key, each) && !isOfCall(key, path) && !isState(key, path),
  );
  yield [`entries in ${path}`, entries.length];
  for (const [key, each] of entries) yield* entriesIn(each, `${path}.${slotOf(key)}`);
}

/** What the living agent takes up now; undefined where none lives. */
export function takenBy({ root, agent, timers }: Watched): Taken | undefined {
  if (root === undefined || agent === undefined) return undefined;
  const taken = new Map([
    ['actors', countOf(root)],
    ['timers', timers],
  ]);
  for (const [what, count] of entriesIn(agent.keyframe(), 'keyframe')) taken.set(what, (taken.get(what) ?? 0) + count);
  return taken;
}

/** Until every source has been read a node does what it need not do any more later on. */
const BEGINNING: readonly unknown[] = ['starting', 'recovering', 'partial'];

export const isBeginning = ({ root }: Watched): boolean => BEGINNING.includes(root?.getSnapshot().value);
