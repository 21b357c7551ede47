/** The lease of the node: renewed every so often, so that the cluster knows it to be alive. */
import { assign, setup } from 'xstate';
import type { Failure } from '../../pod/failure.ts';
import { failureOf } from '../shared/failure.ts';
import { port, timerPort } from '../shared/ports.ts';
import type { Seen, StateMeta, StateTag } from '../shared/stateMeta.ts';

// Not an interface: the types of the package would have to name it.
export type LeaseInput = {
  /** How often it is renewed, in milliseconds: four times while it lasts. */
  readonly everyMs: number;
};

/** As a kubelet: the wait before another try doubles from the first to the longest. */
const FIRST_WAIT_MS = 200;
const LONGEST_WAIT_MS = 7_000;

export type LeaseContext = LeaseInput & {
  readonly waitMs: number;
  readonly retryAt: number;
  readonly failure?: Failure | undefined;
};

export const leaseMachine = setup({
  types: {
    input: {} as LeaseInput,
    context: {} as LeaseContext,
    events: {} as { type: 'timer.elapsed' },
    meta: {} as StateMeta,
    tags: {} as StateTag,
  },
  actors: { renewLease: port('renewLease'), timer: timerPort() },
  actions: {
    recordRenewed: assign({ waitMs: FIRST_WAIT_MS, failure: undefined }),
    recordFailure: assign(({ context: { waitMs }, event }) => {
      const failure = failureOf(event);
      return { failure, retryAt: failure.at + waitMs, waitMs: Math.min(waitMs * 2, LONGEST_WAIT_MS) };
    }),
  },
}).createMachine({
  id: 'lease',
  description: 'The lease by which the cluster knows that the node is alive.',
  meta: {
    moments: ({ since, snapshot: { context } }: Seen<LeaseContext>) => ({ dueAt: since + context.everyMs }),
  },
  context: ({ input }) => ({ ...input, waitMs: FIRST_WAIT_MS, retryAt: 0 }),
  initial: 'renewing',
  states: {
    renewing: {
      tags: 'working',
      meta: { waitsFor: 'the lease to be renewed' },
      invoke: {
        src: 'renewLease',
        input: null,
        onDone: { target: 'current', actions: 'recordRenewed' },
        onError: { target: 'awaitingRetry', actions: 'recordFailure' },
      },
    },
    current: {
      tags: 'steady',
      meta: { waitsFor: 'the next renewal of the lease', until: 'dueAt' },
      invoke: { src: 'timer', input: ({ context }) => ({ after: context.everyMs }) },
      on: { 'timer.elapsed': 'renewing' },
    },
    awaitingRetry: {
      tags: 'retrying',
      meta: { waitsFor: 'another attempt to renew the lease', until: 'retryAt' },
      invoke: { src: 'timer', input: ({ context }) => ({ until: context.retryAt, within: LONGEST_WAIT_MS }) },
      on: { 'timer.elapsed': 'renewing' },
    },
  },
});
