import type { AnyActorRef } from 'xstate';
import type { Invariant, Watched } from './invariant.ts';

/** How many actors there are, with the one given. */
function countOf(ref: AnyActorRef): number {
  const { children = {} }: { children?: Record<string, AnyActorRef | undefined> } = ref.getSnapshot();
  return Object.values(children).reduce((sum, child) => sum + (child ? countOf(child) : 0), 1);
}

/** How much an agent takes up, of each thing by its name. */
type Taken = ReadonlyMap<string, number>;

/** A call that is just under way has a time limit: an agent without pods makes one now and then, seldom two at once. */
const TIMERS_OF_CALLS = 2;

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
function* entriesIn(value: unknown, path: string): Generator<readonly [string, number]> {
  if (lengthOf(value) > 0) yield [`times ${LONG_TEXT} characters in ${path}`, lengthOf(value)];
  if (!isObject(value)) return;
  const entries = Object.entries(value).filter(
    ([key, each]) => !isLastFailure(key, each) && !isOfCall(key, path) && !isState(key, path),
  );
  yield [`entries in ${path}`, entries.length];
  for (const [key, each] of entries) yield* entriesIn(each, `${path}.${slotOf(key)}`);
}

function takenBy({ root, agent, timers }: Watched): Taken | undefined {
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

const isBeginning = ({ root }: Watched): boolean => BEGINNING.includes(root?.getSnapshot().value);

/** What there is more of than there need be. */
const excess = (taken: Taken, needed: Taken): string[] =>
  [...taken].flatMap(([what, count]) => {
    const enough = needed.get(what) ?? 0;
    return count > enough + (what === 'timers' ? TIMERS_OF_CALLS : 0)
      ? [`${count} ${what}, where ${enough} are enough`]
      : [];
  });

/**
 * A warning goes while its cause cannot be looked at, and comes again: whether it need be there is told by a new agent,
 * not by what the same one had before.
 */
const withoutWarnings = (taken: Taken): Taken => new Map([...taken].filter(([what]) => !/\.warnings(\.|$)/.test(what)));

export const bounded: Invariant = {
  number: 9,
  says: "The memory of the agent's actors is a function of what exists, not of how long it ran.",
  follow: (watched, violated) => {
    let before: { readonly life: number; readonly taken: Taken } | undefined;
    return {
      // An agent without pods needs what a new one in its place needs, and what it needed itself when it had none.
      settled: () => {
        const taken = watched.deeds.wanted.size > 0 ? undefined : takenBy(watched);
        if (taken === undefined || isBeginning(watched)) return;
        const { life } = watched;
        const [more, enough] =
          before?.life === life ? [withoutWarnings(taken), before.taken] : [before?.taken ?? taken, taken];
        for (const each of excess(more, enough)) violated(`of an agent without pods: ${each}`);
        before = { life, taken };
      },
    };
  },
};
