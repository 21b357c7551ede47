/**
 * Limits concurrent work on the node. Slots are granted in the order in which the pods arrived. `explain` shows the
 * queue.
 */
import { assertEvent, assign, enqueueActions, setup } from 'xstate';
import { actorAt } from '../shared/actorRefs.ts';
import { timerPort } from '../shared/ports.ts';
import type { LimiterEvent, SlotGranted, SlotRequest } from '../shared/slots.ts';
import type { Seen, StateMeta, StateTag } from '../shared/stateMeta.ts';
import { after } from '../shared/waits.ts';

interface HeldSlot extends SlotRequest {
  /** Whether the slot has been held so long that it no longer blocks requests of other origins. */
  readonly slow?: true;
}

export interface LimiterContext {
  readonly capacity: number;
  /** Maximum time for which a slot may be held, in milliseconds. The holder enforces it. */
  readonly limitMs?: number;
  /** Time in milliseconds after which the holders of all slots count as slow. Undefined if they never do. */
  readonly slowAfterMs?: number;
  readonly held: readonly HeldSlot[];
  readonly queue: readonly SlotRequest[];
}

export type LimiterInput = Pick<LimiterContext, 'capacity' | 'limitMs' | 'slowAfterMs'>;

/** Inserts a request after those with the same or an earlier ticket. */
function enqueued(queue: readonly SlotRequest[], request: SlotRequest): readonly SlotRequest[] {
  const behind = queue.findIndex((other) => other.ticket > request.ticket);
  return behind < 0 ? [...queue, request] : [...queue.slice(0, behind), request, ...queue.slice(behind)];
}

const without = <C extends SlotRequest>(requests: readonly C[], drop: (request: SlotRequest) => boolean): C[] =>
  requests.filter((request) => !drop(request));

const inTime = ({ held }: LimiterContext): readonly HeldSlot[] => held.filter(({ slow }) => slow === undefined);

const hasSlots = (context: LimiterContext): boolean => inTime(context).length < context.capacity;

const isOfSame = ({ subject }: SlotRequest, other: SlotRequest): boolean =>
  subject !== undefined && subject === other.subject;

/**
 * Whether a request may get a slot. Requests of one origin hold at most `capacity` slots, including slow ones, and
 * requests for one subject hold at most one.
 */
const isOpenTo = ({ capacity, held }: LimiterContext, request: SlotRequest): boolean =>
  held.filter((each) => each.origin === request.origin).length < capacity &&
  !held.some((each) => isOfSame(each, request));

const nextOf = (context: LimiterContext): SlotRequest | undefined =>
  hasSlots(context) ? context.queue.find((request) => isOpenTo(context, request)) : undefined;

/**
 * Returns the waiting requests in the order in which they will be granted. Requests that are blocked by slow holders of
 * their own origin, or by a holder with their subject, come last.
 */
export const waitingOrder = (context: LimiterContext): readonly SlotRequest[] => {
  const isHeldUp = (request: SlotRequest) =>
    !isOpenTo({ ...context, held: context.held.filter((each) => each.slow || isOfSame(each, request)) }, request);
  return [...without(context.queue, isHeldUp), ...context.queue.filter(isHeldUp)];
};

/** Returns the holders that block a request. */
export function blockingHolders({ held }: LimiterContext, request: SlotRequest): readonly HeldSlot[] {
  const ofSame = held.filter((each) => isOfSame(each, request));
  return ofSame.length > 0 ? ofSame : held.filter((each) => each.slow === undefined || each.origin === request.origin);
}

const meta: StateMeta = {
  // The timer restarts when a released slot is granted again, which the limiter's state does not reflect.
  moments({ snapshot: { context, children }, sinceOf }: Seen<LimiterContext>) {
    const [timer] = Object.values(children);
    return timer && context.slowAfterMs !== undefined ? { dueAt: sinceOf(timer) + context.slowAfterMs } : {};
  },
  facts({ id, snapshot: { context } }: Seen<LimiterContext>) {
    const { capacity, held } = context;
    const slow = held.length - inTime(context).length;
    const keysOf = (requests: readonly SlotRequest[]) => requests.map(({ key }) => key);
    return {
      kind: 'limiter',
      name: id.replace(/Limiter$/, ''),
      facts: [
        `${held.length - slow}${Number.isFinite(capacity) ? ` of ${capacity}` : ''} held`,
        ...(slow > 0 ? [`plus ${slow} slow`] : []),
      ],
      lists: { 'held by': keysOf(held), queued: keysOf(waitingOrder(context)) },
    };
  },
};

export const limiterMachine = setup({
  types: {
    input: {} as LimiterInput,
    context: {} as LimiterContext,
    events: {} as LimiterEvent,
    meta: {} as StateMeta,
    tags: {} as StateTag,
  },
  actors: { timer: timerPort() },
  guards: {
    isKnown: ({ context, event }) => {
      assertEvent(event, 'slot.request');
      return [...context.held, ...context.queue].some(({ key }) => key === event.key);
    },
    hasRoom: ({ context }) => hasSlots(context),
    canGrant: ({ context }) => nextOf(context) !== undefined,
    isFull: ({ context }) => !hasSlots(context),
    isFullForNow: ({ context }) => !hasSlots(context) && context.slowAfterMs !== undefined,
  },
  actions: {
    enqueue: assign(({ context, event }) => {
      assertEvent(event, 'slot.request');
      return { queue: enqueued(context.queue, event) };
    }),
    release: assign(({ context, event }) => {
      assertEvent(event, ['slot.release', 'slot.forget']);
      const drop = ({ key }: SlotRequest) =>
        event.type === 'slot.release' ? key === event.key : key.startsWith(`${event.uid}/`);
      return { held: without(context.held, drop), queue: without(context.queue, drop) };
    }),
    markHoldersSlow: assign(({ context: { held } }) => ({
      held: held.map((each): HeldSlot => ({ ...each, slow: true })),
    })),
    grant: enqueueActions(({ context, event, enqueue, self }) => {
      const next = nextOf(context);
      if (next === undefined) return;
      enqueue.assign({ held: [...context.held, next], queue: context.queue.filter((each) => each !== next) });
      const { limitMs } = context;
      const holder = actorAt<SlotGranted>(self, next.holder);
      if (holder === undefined) return;
      enqueue.sendTo(holder, {
        type: 'slot.granted',
        key: next.key,
        ...(limitMs === undefined ? {} : { limitMs }),
        ...(event.type === 'slot.request' && event.key === next.key ? {} : { waited: true }),
      });
    }),
  },
}).createMachine({
  id: 'limiter',
  description: 'A limiter of the node: a fixed number of slots, first come, first served.',
  meta,
  context: ({ input }) => ({ ...input, held: [], queue: [] }),
  initial: 'open',
  on: {
    'slot.request': [
      {
        guard: 'isKnown',
        meta: {
          unreached: {
            reason: 'defensive: an actor releases its slot before it requests another; tested on its machine',
          },
        },
      },
      { actions: 'enqueue' },
    ],
    'slot.release': { actions: 'release' },
    'slot.forget': { actions: 'release' },
  },
  states: {
    open: {
      description: 'Slots are free and are granted at once.',
      tags: 'steady',
      always: [
        { guard: 'canGrant', actions: 'grant', target: 'open', reenter: true },
        { guard: 'isFullForNow', target: 'fullForNow' },
        { guard: 'isFull', target: 'full' },
      ],
    },
    full: {
      description: 'All slots are taken. Requests are queued, fairly between pods.',
      tags: 'waiting',
      meta: { waitsFor: 'one of its slots to be released' },
      always: { guard: 'hasRoom', target: 'open' },
    },
    fullForNow: {
      description:
        'All slots are taken. After a time their holders count as slow and block only requests of their own origin.',
      tags: 'waiting',
      meta: {
        waitsFor: 'one of its slots to be released, or its holders to count as slow',
        until: 'dueAt',
      },
      invoke: after(({ slowAfterMs = 0 }: LimiterContext) => slowAfterMs),
      always: { guard: 'hasRoom', target: 'open' },
      on: { 'timer.elapsed': { target: 'open', actions: 'markHoldersSlow' } },
    },
  },
});
