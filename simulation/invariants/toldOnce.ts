import type { Invariant } from './invariant.ts';

/** What happens once to a container, by the reason of its event. */
const ONCE: ReadonlySet<string> = new Set(['Created', 'Started']);

export const toldOnce: Invariant = {
  number: 8,
  says: 'Within one life of the agent, an event is told once for what happened once.',
  follow: (_watched, violated) => {
    let told = new Map<string, number>();
    return {
      onLifeBegan: () => {
        told = new Map();
      },
      onEvent: ({ reason, message, involved, at }) => {
        if (!ONCE.has(reason)) return;
        const key = `${reason} ${involved.uid} ${involved.fieldPath ?? ''} ${message}`;
        const before = told.get(key);
        told.set(key, at);
        if (before === at) violated(`told twice: ${involved.namespace}/${involved.name} ${reason}: ${message}`);
      },
    };
  },
};
