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

interface HeldSlot extends SlotRequest {
  /** Whether the slot has been held so long that it no longer blocks requests of other origins. */
  readonly isSlow?: true;
}

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

/** Inserts a request after all requests of the same pod and of pods that arrived earlier. */
function withQueued(queue: readonly SlotRequest[], request: SlotRequest): readonly SlotRequest[] {
  const insertIndex = queue.findIndex((other) => other.arrivalOrder > request.arrivalOrder);
  return insertIndex < 0 ? [...queue, request] : [...queue.slice(0, insertIndex), request, ...queue.slice(insertIndex)];
}

const withoutMatchingRequests = <C extends SlotRequest>(
  requests: readonly C[],
  matches: (request: SlotRequest) => boolean,
): C[] => requests.filter((request) => !matches(request));

const nonSlowSlots = ({ heldSlots }: LimiterContext): readonly HeldSlot[] =>
  heldSlots.filter(({ isSlow }) => isSlow === undefined);

const hasFreeSlots = (context: LimiterContext): boolean => nonSlowSlots(context).length < context.capacity;

const hasSameSubject = ({ subject }: SlotRequest, other: SlotRequest): boolean =>
  subject !== undefined && subject === other.subject;

/**
 * Whether a request may get a slot. All requests of one origin hold at most `capacity` slots, including slow ones.
 * Requests with the same subject hold at most one slot.
 */
const isEligible = ({ capacity, heldSlots }: LimiterContext, request: SlotRequest): boolean =>
  heldSlots.filter((each) => each.origin === request.origin).length < capacity &&
  !heldSlots.some((each) => hasSameSubject(each, request));

const nextRequest = (context: LimiterContext): SlotRequest | undefined =>
  hasFreeSlots(context) ? context.queue.find((request) => isEligible(context, request)) : undefined;

/**
 * Returns the waiting requests in the order in which they will be granted. Requests that are blocked by slow holders of
 * their own origin, or by a holder with the same subject, come last.
 */
export const waitingOrder = (context: LimiterContext): readonly SlotRequest[] => {
  const isBlocked = (request: SlotRequest) =>
    !isEligible(
      { ...context, heldSlots: context.heldSlots.filter((each) => each.isSlow || hasSameSubject(each, request)) },
      request,
    );
  return [...withoutMatchingRequests(context.queue, isBlocked), ...context.queue.filter(isBlocked)];
};

export function blockingHolders({ heldSlots }: LimiterContext, request: SlotRequest): readonly HeldSlot[] {
  const sameSubjectHolders = heldSlots.filter((each) => hasSameSubject(each, request));
  return sameSubjectHolders.length > 0
    ? sameSubjectHolders
    : heldSlots.filter((each) => each.isSlow === undefined || each.origin === request.origin);
}

const meta: StateMeta = {
  // The deadline counts from the start of the timer, because the timer restarts when a released slot is granted again,
  // whereas the state of the limiter's machine does not change then.
  deadlines({ snapshot: { context, children }, getStateSince }: ActorInfo<LimiterContext>) {
    const [timer] = Object.values(children);
    return timer && context.slowAfterMs !== undefined ? { dueAt: getStateSince(timer) + context.slowAfterMs } : {};
  },
  facts({ id, snapshot: { context } }: ActorInfo<LimiterContext>) {
    const { capacity, heldSlots } = context;
    const slowCount = heldSlots.length - nonSlowSlots(context).length;
    const keysOf = (requests: readonly SlotRequest[]) => requests.map(({ key }) => key);
    return {
      kind: 'limiter',
      name: id.replace(/Limiter$/, ''),
      facts: [
        `${heldSlots.length - slowCount}${Number.isFinite(capacity) ? ` of ${capacity}` : ''} held`,
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
      return [...context.heldSlots, ...context.queue].some(({ key }) => key === event.key);
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
    releaseSlots: assign(({ context, event }) => {
      assertEvent(event, ['slot.release', 'slot.forget']);
      const shouldDrop = ({ key }: SlotRequest) =>
        event.type === 'slot.release' ? key === event.key : key.startsWith(`${event.uid}/`);
      return {
        heldSlots: withoutMatchingRequests(context.heldSlots, shouldDrop),
        queue: withoutMatchingRequests(context.queue, shouldDrop),
      };
    }),
    markHoldersSlow: assign(({ context: { heldSlots } }) => ({
      heldSlots: heldSlots.map((each): HeldSlot => ({ ...each, isSlow: true })),
    })),
    grantSlot: enqueueActions(({ context, event, enqueue, self }) => {
      const grantedRequest = nextRequest(context);
      if (grantedRequest === undefined) return;
      enqueue.assign({
        heldSlots: [...context.heldSlots, grantedRequest],
        queue: context.queue.filter((each) => each !== grantedRequest),
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
