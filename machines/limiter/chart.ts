/**
 * Limits concurrent work on the node. Slots are granted in the order in which the pods arrived. `explain` shows the
 * queue.
 */
import { assertEvent, assign, enqueueActions, setup } from 'xstate';
import type { LimiterEvent, SlotGranted, SlotRequest } from '../shared/events/slots.ts';
import { timerPort } from '../shared/ports.ts';
import type { ActorInfo, StateMeta, StateTag } from '../shared/stateMeta.ts';
import { actorAt } from '../shared/views/actorRefs.ts';
import { after } from '../shared/waiting/waits.ts';
import {
  type HeldSlot,
  indexOfHeldSlots,
  indexOfQueue,
  withHeldSlot,
  withoutHeldSlot,
  withoutQueued,
  withQueued,
} from './slots.ts';

export interface LimiterContext {
  readonly capacity: number;
  /** Maximum time for which a slot may be held, in milliseconds. The holder enforces it. */
  readonly limitMs?: number;
  /**
   * Time in milliseconds for which all slots may be taken before their holders are considered slow. Undefined if
   * holders are never considered slow.
   */
  readonly slowAfterMs?: number;
  readonly heldSlots: readonly HeldSlot[];
  readonly queue: readonly SlotRequest[];
}

export type LimiterInput = Pick<LimiterContext, 'capacity' | 'limitMs' | 'slowAfterMs'>;

const hasFreeSlots = ({ capacity, heldSlots }: LimiterContext): boolean =>
  indexOfHeldSlots(heldSlots).regularCount < capacity;

/**
 * Returns the first request that may get a slot. All requests of one origin together hold at most `capacity` slots,
 * including slots of slow holders. Requests with the same subject hold at most one slot.
 */
function nextRequest(context: LimiterContext): SlotRequest | undefined {
  if (!hasFreeSlots(context)) return undefined;
  const slots = indexOfHeldSlots(context.heldSlots);
  return indexOfQueue(context.queue).first(
    (origin) => slots.countOf(origin) >= context.capacity,
    (subject) => slots.withSubject(subject) !== undefined,
  );
}

/**
 * Returns the waiting requests in the order in which they will be granted. Requests that are blocked by slow holders of
 * their own origin, or by a holder with the same subject, come last.
 */
export function waitingOrder({ capacity, heldSlots, queue }: LimiterContext): readonly SlotRequest[] {
  const slots = indexOfHeldSlots(heldSlots);
  const isBlocked = ({ origin, subject }: SlotRequest) =>
    slots.withSubject(subject) !== undefined || slots.slowCountOf(origin) >= capacity;
  return [...queue.filter((request) => !isBlocked(request)), ...queue.filter(isBlocked)];
}

export function blockingHolders({ heldSlots }: LimiterContext, request: SlotRequest): readonly HeldSlot[] {
  const sameSubjectHolder = indexOfHeldSlots(heldSlots).withSubject(request.subject);
  return sameSubjectHolder === undefined
    ? heldSlots.filter((each) => each.isSlow === undefined || each.origin === request.origin)
    : [sameSubjectHolder];
}

const meta: StateMeta = {
  // Measure the deadline from the start of the timer, not from the entry into the state. The timer restarts when a
  // released slot is granted again, whereas the machine stays in the same state.
  deadlines({ snapshot: { context, children }, getStateSince }: ActorInfo<LimiterContext>) {
    const [timer] = Object.values(children);
    return timer && context.slowAfterMs !== undefined ? { dueAt: getStateSince(timer) + context.slowAfterMs } : {};
  },
  facts({ id, snapshot: { context } }: ActorInfo<LimiterContext>) {
    const { capacity, heldSlots } = context;
    const { regularCount } = indexOfHeldSlots(heldSlots);
    const slowCount = heldSlots.length - regularCount;
    const keysOf = (requests: readonly SlotRequest[]) => requests.map(({ key }) => key);
    return {
      kind: 'limiter',
      name: id.replace(/Limiter$/, ''),
      facts: [
        `${regularCount}${Number.isFinite(capacity) ? ` of ${capacity}` : ''} held`,
        ...(slowCount > 0 ? [`plus ${slowCount} slow`] : []),
      ],
      lists: { 'held by': keysOf(heldSlots), queued: keysOf(waitingOrder(context)) },
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
    isDuplicateRequest: ({ context, event }) => {
      assertEvent(event, 'slot.request');
      const { heldSlots, queue } = context;
      return indexOfHeldSlots(heldSlots).has(event.key) || indexOfQueue(queue).has(event.key);
    },
    hasFreeSlot: ({ context }) => hasFreeSlots(context),
    canGrant: ({ context }) => nextRequest(context) !== undefined,
    isFull: ({ context }) => !hasFreeSlots(context),
    isFullForNow: ({ context }) => !hasFreeSlots(context) && context.slowAfterMs !== undefined,
  },
  actions: {
    enqueueRequest: assign(({ context, event }) => {
      assertEvent(event, 'slot.request');
      return { queue: withQueued(context.queue, event) };
    }),
    releaseSlots: assign(({ context: { heldSlots, queue }, event }) => {
      assertEvent(event, ['slot.release', 'slot.forget']);
      const [slotIndex, queueIndex] = [indexOfHeldSlots(heldSlots), indexOfQueue(queue)];
      const [slots, requests] =
        event.type === 'slot.release'
          ? [slotIndex.withKey(event.key), queueIndex.withKey(event.key)]
          : [slotIndex.ofPod(event.uid), queueIndex.ofPod(event.uid)];
      return { heldSlots: slots.reduce(withoutHeldSlot, heldSlots), queue: requests.reduce(withoutQueued, queue) };
    }),
    markHoldersSlow: assign(({ context: { heldSlots } }) => ({
      heldSlots: heldSlots.map((each): HeldSlot => ({ ...each, isSlow: true })),
    })),
    grantSlot: enqueueActions(({ context, event, enqueue, self }) => {
      const grantedRequest = nextRequest(context);
      if (grantedRequest === undefined) return;
      enqueue.assign({
        heldSlots: withHeldSlot(context.heldSlots, grantedRequest),
        queue: withoutQueued(context.queue, grantedRequest),
      });
      const { limitMs } = context;
      const holder = actorAt<SlotGranted>(self, grantedRequest.holder);
      if (holder === undefined) return;
      enqueue.sendTo(holder, {
        type: 'slot.granted',
        key: grantedRequest.key,
        ...(limitMs === undefined ? {} : { limitMs }),
        ...(event.type === 'slot.request' && event.key === grantedRequest.key ? {} : { hasWaited: true }),
      });
    }),
  },
}).createMachine({
  id: 'limiter',
  description: 'A limiter of the node: a fixed number of slots, first come, first served.',
  meta,
  context: ({ input }) => ({ ...input, heldSlots: [], queue: [] }),
  initial: 'open',
  on: {
    'slot.request': [
      {
        guard: 'isDuplicateRequest',
        meta: {
          coverageGap: {
            reason: 'defensive: an actor releases its slot before it requests another; tested on its machine',
          },
        },
      },
      { actions: 'enqueueRequest' },
    ],
    'slot.release': { actions: 'releaseSlots' },
    'slot.forget': { actions: 'releaseSlots' },
  },
  states: {
    open: {
      description: 'Slots are free and are granted at once.',
      tags: 'steady',
      always: [
        { guard: 'canGrant', actions: 'grantSlot', target: 'open', reenter: true },
        { guard: 'isFullForNow', target: 'fullForNow' },
        { guard: 'isFull', target: 'full' },
      ],
    },
    full: {
      description: 'All slots are taken. Requests are queued, fairly between pods.',
      tags: 'waiting',
      meta: { waitsFor: 'one of its slots to be released' },
      always: { guard: 'hasFreeSlot', target: 'open' },
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
      always: { guard: 'hasFreeSlot', target: 'open' },
      on: { 'timer.elapsed': { target: 'open', actions: 'markHoldersSlow' } },
    },
  },
});
