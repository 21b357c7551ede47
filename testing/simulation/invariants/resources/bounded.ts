import type { AnyActorRef } from 'xstate';
import type { Invariant, Watched } from '../invariant.ts';
import { isStarting, type MemoryUse, memoryUseOf } from './memoryUse.ts';

/**
 * Number of additional timers allowed for calls in progress. An agent without pods makes a call now and then, but
 * rarely two at once.
 */
const TIMERS_OF_CALLS = 2;

/** Returns a description of each count that exceeds what is needed. */
const excess = (memoryUse: MemoryUse, needed: MemoryUse): string[] =>
  [...memoryUse].flatMap(([kind, count]) => {
    const enough = needed.get(kind) ?? 0;
    return count > enough + (kind === 'timers' ? TIMERS_OF_CALLS : 0)
      ? [`${count} ${kind}, but ${enough} would be enough`]
      : [];
  });

/**
 * Returns the counts without those of warnings. A warning disappears while its cause cannot be checked, and only a new
 * agent can decide whether it is needed.
 */
const withoutWarnings = (memoryUse: MemoryUse): MemoryUse =>
  new Map([...memoryUse].filter(([kind]) => !/\.warnings(\.|$)/.test(kind)));

/**
 * Context entries that remain once they exist: the last states of the event queue and of the object watches, the
 * pressure conditions, the last reclaim after a shortage, the last shutdown, and at most two observations per signal,
 * from which rates are computed. Each counts as one entry at its path.
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

function withoutLastState(memoryUse: MemoryUse, { place, name }: (typeof LAST_STATES)[number]): MemoryUse {
  const [at, below] = [` keyframe.actors.${place}`, ` keyframe.actors.${place}.${name}`];
  const others = [...memoryUse].filter(([kind]) => !kind.endsWith(below) && !kind.includes(`${below}.`));
  const isPresent = others.length < memoryUse.size;
  return new Map(others.map(([kind, count]) => [kind, isPresent && kind.endsWith(at) ? count - 1 : count]));
}

function withoutLastStates(memoryUse: MemoryUse): MemoryUse {
  let left = memoryUse;
  for (const each of LAST_STATES) left = withoutLastState(left, each);
  return left;
}

/** Whether the agent has lost access to cgroups. It warns about this until it restarts. */
function isForbidden({ root }: Watched): boolean {
  const { cgroups }: { cgroups?: AnyActorRef } = root?.getSnapshot().children ?? {};
  return cgroups?.getSnapshot().hasTag('failed') === true;
}

export const bounded: Invariant = {
  number: 9,
  description: "The memory of the agent's actors depends on what exists, not on how long the agent has run.",
  follow: (watched, violated) => {
    let before: { readonly agentNumber: number; readonly memoryUse: MemoryUse } | undefined;
    return {
      // An agent without pods needs no more memory than a new agent in its place, and than it needed itself at an
      // earlier time without pods.
      settled: () => {
        const all = watched.actionLog.wanted.size > 0 ? undefined : memoryUseOf(watched);
        if (all === undefined || isStarting(watched)) return;
        const memoryUse = withoutLastStates(all);
        const { agentNumber } = watched;
        const [more, enough] =
          before?.agentNumber === agentNumber
            ? [withoutWarnings(memoryUse), before.memoryUse]
            : [before?.memoryUse ?? memoryUse, memoryUse];
        for (const each of excess(more, enough)) violated(`an agent without pods has ${each}`);
        before = { agentNumber, memoryUse: isForbidden(watched) ? withoutWarnings(memoryUse) : memoryUse };
      },
    };
  },
};
