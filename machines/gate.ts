/** A node-level gate: so many at a time, the pods that came first go first; its queue is what `explain` shows. */
import { assign, enqueueActions, setup } from 'xstate';
import type { GateEvent, GateGranted, Ref } from './events.ts';

interface Claim {
  /** Who asks for what: begins with the pod's uid. */
  readonly key: string;
  /** The pod's number in the order of arrival: all of a pod's requests go before those of later pods. */
  readonly ticket: number;
  readonly holder: Ref<GateGranted>;
  /** What it is for, in words for those that stand behind it. */
  readonly purpose?: string;
}

export interface GateContext {
  readonly capacity: number;
  /** How long a slot may be held, in milliseconds: whoever holds one sees to it. */
  readonly limitMs?: number;
  readonly held: readonly Claim[];
  readonly queue: readonly Claim[];
}

/** Puts a claim behind those with the same or an earlier ticket. */
function enqueued(queue: readonly Claim[], claim: Claim): readonly Claim[] {
  const behind = queue.findIndex((other) => other.ticket > claim.ticket);
  return behind < 0 ? [...queue, claim] : [...queue.slice(0, behind), claim, ...queue.slice(behind)];
}

const without = (claims: readonly Claim[], drop: (claim: Claim) => boolean) => claims.filter((claim) => !drop(claim));

/** One gate: `open` while a slot is free, `full` while requests wait. */
export const gateMachine = setup({
  types: {
    input: {} as Pick<GateContext, 'capacity' | 'limitMs'>,
    context: {} as GateContext,
    events: {} as GateEvent,
  },
  guards: {
    isKnown: ({ context, event }) =>
      event.type === 'gate.request' && [...context.held, ...context.queue].some(({ key }) => key === event.key),
    isFull: ({ context }) => context.held.length >= context.capacity,
    hasRoom: ({ context }) => context.held.length < context.capacity,
    canGrant: ({ context }) => context.held.length < context.capacity && context.queue.length > 0,
  },
  actions: {
    enqueue: assign(({ context, event }) =>
      event.type === 'gate.request' ? { queue: enqueued(context.queue, event) } : {},
    ),
    release: assign(({ context, event }) => {
      if (event.type === 'gate.request') return {};
      const drop = ({ key }: Claim) =>
        event.type === 'gate.release' ? key === event.key : key.startsWith(`${event.uid}/`);
      return { held: without(context.held, drop), queue: without(context.queue, drop) };
    }),
    grant: enqueueActions(({ context, enqueue }) => {
      const [next, ...queue] = context.queue;
      if (next === undefined) return;
      enqueue.assign({ held: [...context.held, next], queue });
      const { limitMs } = context;
      enqueue.sendTo(next.holder, {
        type: 'gate.granted',
        key: next.key,
        ...(limitMs === undefined ? {} : { limitMs }),
      });
    }),
  },
}).createMachine({
  id: 'gate',
  context: ({ input }) => ({ ...input, held: [], queue: [] }),
  initial: 'open',
  on: {
    'gate.request': [{ guard: 'isKnown' }, { actions: 'enqueue' }],
    'gate.release': { actions: 'release' },
    'gate.forget': { actions: 'release' },
  },
  states: {
    open: {
      always: [
        { guard: 'canGrant', actions: 'grant', target: 'open', reenter: true },
        { guard: 'isFull', target: 'full' },
      ],
    },
    full: { always: { guard: 'hasRoom', target: 'open' } },
  },
});
