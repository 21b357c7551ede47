/** The lease of the node: renewed every so often, so that the cluster knows it to be alive. */
import { assign, enqueueActions, setup } from 'xstate';
import type { Failure } from '../../base/failure.ts';
import { parent } from '../shared/actorRefs.ts';
import type { LeaseEvent } from '../shared/clusterFacts.ts';
import type { RegistrationReport } from '../shared/events.ts';
import { failureOf } from '../shared/failure.ts';
import { type PortTypes, port, timerPort } from '../shared/ports.ts';
import type { Seen, StateMeta, StateTag } from '../shared/stateMeta.ts';

// Not an interface: the types of the package would have to name it.
export type LeaseInput = {
  /** How often it is renewed, in milliseconds: four times while it lasts. */
  readonly everyMs: number;
};

/** As a kubelet: the wait before another try doubles from the first to the longest. */
const FIRST_WAIT_MS = 200;
const LONGEST_WAIT_MS = 7_000;

/** At most so much longer, that not all nodes come at once. */
const LATENESS = 0.04;

export type LeaseContext = LeaseInput & {
  /** How long until the next renewal, in milliseconds. */
  readonly restMs: number;
  /** The Node was registered while the lease was looked for. */
  readonly hasNodeCome: boolean;
  readonly waitMs: number;
  readonly retryAt: number;
  readonly failure?: Failure | undefined;
};

const answerIn = (event: object): PortTypes['renewLease']['output'] =>
  // Only `renewLease` is done there.
  'output' in event ? (event.output as PortTypes['renewLease']['output']) : { isHeld: false, chance: 0 };

export const leaseMachine = setup({
  types: {
    input: {} as LeaseInput,
    context: {} as LeaseContext,
    events: {} as LeaseEvent,
    meta: {} as StateMeta,
    tags: {} as StateTag,
  },
  actors: { renewLease: port('renewLease'), timer: timerPort() },
  guards: {
    isHeld: ({ event }) => answerIn(event).isHeld,
    hasNodeCome: ({ context }) => context.hasNodeCome,
  },
  actions: {
    begin: assign({ hasNodeCome: false }),
    noteNode: assign({ hasNodeCome: true }),
    /** The cluster is there again: what else it is to be told need not wait. */
    tellRegained: enqueueActions(({ context: { failure }, enqueue }) => {
      if (failure !== undefined) enqueue.sendTo(parent<RegistrationReport>(), { type: 'node.leaseRegained' });
    }),
    recordAnswer: assign(({ context: { everyMs }, event }) => {
      const restMs = everyMs * (1 + LATENESS * answerIn(event).chance);
      return { restMs, waitMs: FIRST_WAIT_MS, failure: undefined };
    }),
    recordFailure: assign(({ context: { waitMs }, event }) => {
      const failure = failureOf(event);
      return { failure, retryAt: failure.at + waitMs, waitMs: Math.min(waitMs * 2, LONGEST_WAIT_MS) };
    }),
  },
}).createMachine({
  id: 'lease',
  description: 'The lease by which the cluster knows that the node is alive.',
  meta: {
    moments: ({ since, snapshot: { context } }: Seen<LeaseContext>) => ({ dueAt: since + context.restMs }),
  },
  context: ({ input }) => ({ ...input, restMs: input.everyMs, hasNodeCome: false, waitMs: FIRST_WAIT_MS, retryAt: 0 }),
  initial: 'renewing',
  states: {
    renewing: {
      tags: 'working',
      meta: { waitsFor: 'the lease to be renewed' },
      entry: 'begin',
      invoke: {
        src: 'renewLease',
        input: null,
        onDone: [
          { guard: 'isHeld', target: 'current', actions: ['tellRegained', 'recordAnswer'] },
          { guard: 'hasNodeCome', target: 'renewing', reenter: true, actions: ['tellRegained', 'recordAnswer'] },
          { target: 'awaitingNode', actions: ['tellRegained', 'recordAnswer'] },
        ],
        onError: { target: 'awaitingRetry', actions: 'recordFailure' },
      },
      on: { 'node.registered': { actions: 'noteNode' } },
    },
    current: {
      tags: 'steady',
      meta: { waitsFor: 'the next renewal of the lease', until: 'dueAt' },
      invoke: { src: 'timer', input: ({ context }) => ({ after: context.restMs }) },
      on: { 'timer.elapsed': 'renewing', 'node.registered': {} },
    },
    /** Without a Node nobody wants to know whether its node is alive. */
    awaitingNode: {
      tags: 'waiting',
      meta: { waitsFor: 'a Node object, without which there is no lease, looked for again', until: 'dueAt' },
      invoke: { src: 'timer', input: ({ context }) => ({ after: context.restMs }) },
      on: { 'timer.elapsed': 'renewing', 'node.registered': 'renewing' },
    },
    awaitingRetry: {
      tags: 'retrying',
      meta: { waitsFor: 'another attempt to renew the lease', until: 'retryAt' },
      invoke: { src: 'timer', input: ({ context }) => ({ until: context.retryAt, within: LONGEST_WAIT_MS }) },
      on: { 'timer.elapsed': 'renewing', 'node.registered': 'renewing' },
    },
  },
});
