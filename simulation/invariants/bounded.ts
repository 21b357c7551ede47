import type { AnyActorRef } from 'xstate';
import type { Invariant } from './invariant.ts';

/** How many actors there are, with the one given. */
function countOf(ref: AnyActorRef): number {
  const { children = {} }: { children?: Record<string, AnyActorRef | undefined> } = ref.getSnapshot();
  return Object.values(children).reduce((sum, child) => sum + (child ? countOf(child) : 0), 1);
}

export const bounded: Invariant = {
  number: 9,
  says: "The memory of the agent's actors is a function of what exists, not of how long it ran.",
  follow: (watched, violated) => {
    let empty: { readonly actors: number; readonly timers: number; readonly size: number } | undefined;
    return {
      atRest: () => {
        const { root, agent, deeds, timers } = watched;
        if (root === undefined || agent === undefined || deeds.wanted.size > 0) return;
        const now = { actors: countOf(root), timers, size: JSON.stringify(agent.keyframe()).length };
        empty ??= now;
        if (now.actors > empty.actors) violated(`${now.actors} actors without a pod, where there were ${empty.actors}`);
        if (now.timers > empty.timers + 2)
          violated(`${now.timers} timers without a pod, where there were ${empty.timers}`);
        if (now.size > empty.size * 1.5 + 1_000)
          violated(`contexts of ${now.size} bytes without a pod, where there were ${empty.size}`);
      },
    };
  },
};
