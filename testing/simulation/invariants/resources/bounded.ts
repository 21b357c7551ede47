import type { AnyActorRef } from 'xstate';
import type { Invariant, Watched } from '../invariant.ts';
import { isStarting, type MemoryUse, memoryUseOf } from './memoryUse.ts';

/** Time limits of calls in progress. An agent without pods makes a call now and then, rarely two at once. */
const TIMERS_OF_CALLS = 2;

/** Returns the data that exceed the needs. */
const excess = (taken: MemoryUse, needed: MemoryUse): string[] =>
  [...taken].flatMap(([what, count]) => {
    const enough = needed.get(what) ?? 0;
    return count > enough + (what === 'timers' ? TIMERS_OF_CALLS : 0)
      ? [`${count} ${what}, where ${enough} are enough`]
      : [];
  });

/**
 * Removes warnings, which disappear while their cause cannot be checked. Only a new agent can tell whether they are
 * needed.
 */
const withoutWarnings = (taken: MemoryUse): MemoryUse =>
  new Map([...taken].filter(([what]) => !/\.warnings(\.|$)/.test(what)));

/**
 * Entries of the context that remain once they exist: the last states of the event queue and of the object watches, the
 * pressure conditions, what was last reclaimed after a shortage, and at most two observations per signal, from which
 * rates are computed. Each is one entry at its path.
 */
const LAST_STATES = [
  { place: 'context', name: 'eventQueue' },
  { place: 'context', name: 'conditions' },
  { place: 'children.eviction.snapshot.context', name: 'reclaim' },
  { place: 'children.eviction.snapshot.context', name: 'earlierObservations' },
  { place: 'children.shutdown.snapshot.context', name: 'lastShutdown' },
  { place: 'context.watches', name: 'ConfigMap' },
  { place: 'context.watches', name: 'Secret' },
] as const;

function withoutLastState(taken: MemoryUse, { place, name }: (typeof LAST_STATES)[number]): MemoryUse {
  const [at, below] = [` keyframe.actors.${place}`, ` keyframe.actors.${place}.${name}`];
  const others = [...taken].filter(([what]) => !what.endsWith(below) && !what.includes(`${below}.`));
  const isTold = others.length < taken.size;
  return new Map(others.map(([what, count]) => [what, isTold && what.endsWith(at) ? count - 1 : count]));
}

function withoutLastStates(taken: MemoryUse): MemoryUse {
  let left = taken;
  for (const each of LAST_STATES) left = withoutLastState(left, each);
  return left;
}

/** Whether the agent has lost access to cgroups, which it reports until it restarts. */
function isForbidden({ root }: Watched): boolean {
  const { cgroups }: { cgroups?: AnyActorRef } = root?.getSnapshot().children ?? {};
  return cgroups?.getSnapshot().hasTag('failed') === true;
}

export const bounded: Invariant = {
  number: 9,
  description: "The memory of the agent's actors is a function of what exists, not of how long it ran.",
  follow: (watched, violated) => {
    let before: { readonly agentNumber: number; readonly taken: MemoryUse } | undefined;
    return {
      // An agent without pods needs what a new agent in its place needs, and what it needed itself at an earlier time
      // without pods.
      settled: () => {
        const all = watched.actionLog.wanted.size > 0 ? undefined : memoryUseOf(watched);
        if (all === undefined || isStarting(watched)) return;
        const taken = withoutLastStates(all);
        const { agentNumber } = watched;
        const [more, enough] =
          before?.agentNumber === agentNumber
            ? [withoutWarnings(taken), before.taken]
            : [before?.taken ?? taken, taken];
        for (const each of excess(more, enough)) violated(`of an agent without pods: ${each}`);
        before = { agentNumber, taken: isForbidden(watched) ? withoutWarnings(taken) : taken };
      },
    };
  },
};
