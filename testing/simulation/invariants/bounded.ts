import type { AnyActorRef } from 'xstate';
import type { Invariant, Watched } from './invariant.ts';
import { isBeginning, type Taken, takenBy } from './taken.ts';

/** A call that is just under way has a time limit: an agent without pods makes one now and then, seldom two at once. */
const TIMERS_OF_CALLS = 2;

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

/**
 * Of how events and objects get on nothing is told before there were any; thereafter the last word stays. Each is one
 * entry of the place where it stands.
 */
const LAST_WORDS = [
  { place: 'context', name: 'eventQueue' },
  { place: 'context.watches', name: 'ConfigMap' },
  { place: 'context.watches', name: 'Secret' },
] as const;

function withoutLastWord(taken: Taken, { place, name }: (typeof LAST_WORDS)[number]): Taken {
  const [at, below] = [` keyframe.actors.${place}`, ` keyframe.actors.${place}.${name}`];
  const others = [...taken].filter(([what]) => !what.endsWith(below) && !what.includes(`${below}.`));
  const isTold = others.length < taken.size;
  return new Map(others.map(([what, count]) => [what, isTold && what.endsWith(at) ? count - 1 : count]));
}

function withoutLastWords(taken: Taken): Taken {
  let left = taken;
  for (const each of LAST_WORDS) left = withoutLastWord(left, each);
  return left;
}

/** An agent that was once forbidden to change cgroups says so for good: the next one asks again. */
function isForbidden({ root }: Watched): boolean {
  const { cgroups }: { cgroups?: AnyActorRef } = root?.getSnapshot().children ?? {};
  return cgroups?.getSnapshot().hasTag('failed') === true;
}

export const bounded: Invariant = {
  number: 9,
  says: "The memory of the agent's actors is a function of what exists, not of how long it ran.",
  follow: (watched, violated) => {
    let before: { readonly life: number; readonly taken: Taken } | undefined;
    return {
      // An agent without pods needs what a new one in its place needs, and what it needed itself when it had none.
      settled: () => {
        const all = watched.deeds.wanted.size > 0 ? undefined : takenBy(watched);
        if (all === undefined || isBeginning(watched)) return;
        const taken = withoutLastWords(all);
        const { life } = watched;
        const [more, enough] =
          before?.life === life ? [withoutWarnings(taken), before.taken] : [before?.taken ?? taken, taken];
        for (const each of excess(more, enough)) violated(`of an agent without pods: ${each}`);
        before = { life, taken: isForbidden(watched) ? withoutWarnings(taken) : taken };
      },
    };
  },
};
