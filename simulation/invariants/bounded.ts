import type { AnyActorRef } from 'xstate';
import type { Invariant, Watched } from './invariant.ts';

/** How many actors there are, with the one given. */
function countOf(ref: AnyActorRef): number {
  const { children = {} }: { children?: Record<string, AnyActorRef | undefined> } = ref.getSnapshot();
  return Object.values(children).reduce((sum, child) => sum + (child ? countOf(child) : 0), 1);
}

/** What an agent takes up. */
type Taken = Readonly<Record<'actors' | 'timers' | 'bytes of contexts', number>>;

/** So much more is no growth: a call that is just under way, a warning that stands until its cause is looked at again. */
const SLACK: Taken = { actors: 0, timers: 2, 'bytes of contexts': 160 };

/**
 * What the last of many looks has come to, of which no more is kept than that: what was found, what is not as it should
 * be. And what a call that is just under way was given, which may be all that is there.
 */
const LATEST: ReadonlySet<string> = new Set(['found', 'failure', 'warnings', 'input']);
const withoutLatest = (key: string, value: unknown): unknown => (LATEST.has(key) ? undefined : value);

function takenBy({ root, agent, timers }: Watched): Taken | undefined {
  if (root === undefined || agent === undefined) return undefined;
  return { actors: countOf(root), timers, 'bytes of contexts': JSON.stringify(agent.keyframe(), withoutLatest).length };
}

/** What there is more of than there need be. */
const excess = (taken: Taken, needed: Taken): string[] =>
  (Object.keys(SLACK) as (keyof Taken)[]).flatMap((what) =>
    taken[what] > needed[what] + SLACK[what] ? [`${taken[what]} ${what}, where ${needed[what]} are enough`] : [],
  );

export const bounded: Invariant = {
  number: 9,
  says: "The memory of the agent's actors is a function of what exists, not of how long it ran.",
  follow: (watched, violated) => {
    let before: { readonly life: number; readonly taken: Taken } | undefined;
    return {
      // An agent without pods needs what a new one in its place needs, and what it needed itself when it had none.
      settled: () => {
        const taken = watched.deeds.wanted.size > 0 ? undefined : takenBy(watched);
        if (taken === undefined) return;
        const { life } = watched;
        const [more, enough] = before?.life === life ? [taken, before.taken] : [before?.taken ?? taken, taken];
        for (const each of excess(more, enough)) violated(`of an agent without pods: ${each}`);
        before = { life, taken };
      },
    };
  },
};
