/** Renews the node's Lease at regular intervals to show the cluster that the node is alive. */
import { assign, enqueueActions, setup } from 'xstate';
import type { Failure } from '../../base/failure.ts';
import { NODE_RARELY_DELETED } from '../shared/coverageGaps.ts';
import type { LeaseEvent } from '../shared/events/clusterFacts.ts';
import type { RegistrationReport } from '../shared/events/events.ts';
import { type PortTypes, port, timerPort } from '../shared/ports.ts';
import type { ActorInfo, StateMeta, StateTag } from '../shared/stateMeta.ts';
import { parent } from '../shared/views/actorRefs.ts';
import { failureOf } from '../shared/waiting/failure.ts';
import { after, retryWaitState } from '../shared/waiting/waits.ts';

// A type alias rather than an interface, because generated declaration files can inline an alias but can refer to an
// interface only by name.
export type LeaseInput = {
  /** Renewal interval in milliseconds, a quarter of the lease's duration. */
  readonly renewalIntervalMs: number;
};

/** Initial delay in milliseconds of the exponential back-off between attempts to renew the lease, as in the kubelet. */
const INITIAL_RETRY_MS = 200;
/** Maximum delay in milliseconds of the back-off between attempts to renew the lease. */
const MAX_RETRY_MS = 7_000;

/** Maximum jitter as a fraction of the interval, so that nodes do not all renew at the same time. */
const MAX_JITTER = 0.04;

export type LeaseContext = LeaseInput & {
  /** Time until the next renewal, in milliseconds. */
  readonly untilRenewalMs: number;
  /**
   * Whether the Node was registered while the renewal was in flight. If the renewal did not find a Node, it is then
   * repeated immediately.
   */
  readonly wasNodeRegistered: boolean;
  readonly waitMs: number;
  readonly retryAt: number;
  readonly failure?: Failure | undefined;
};

const leaseOutput = (event: object): PortTypes['renewLease']['output'] =>
  // Safe cast: `renewLease` is the only invoked actor that has an output.
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
    isLeaseHeld: ({ event }) => leaseOutput(event).isHeld,
    wasNodeRegistered: ({ context }) => context.wasNodeRegistered,
  },
  actions: {
    clearNodeRegistered: assign({ wasNodeRegistered: false }),
    recordNodeRegistered: assign({ wasNodeRegistered: true }),
    /** Reports that the API server is reachable again, so that other updates are sent immediately. */
    reportRecovery: enqueueActions(({ context: { failure }, enqueue }) => {
      if (failure !== undefined) enqueue.sendTo(parent<RegistrationReport>(), { type: 'node.leaseRegained' });
    }),
    recordRenewal: assign(({ context: { renewalIntervalMs }, event }) => {
      const untilRenewalMs = renewalIntervalMs * (1 + MAX_JITTER * leaseOutput(event).chance);
      return { untilRenewalMs, waitMs: INITIAL_RETRY_MS, failure: undefined };
    }),
    recordFailure: assign(({ context: { waitMs }, event }) => {
      const failure = failureOf(event);
      return { failure, retryAt: failure.at + waitMs, waitMs: Math.min(waitMs * 2, MAX_RETRY_MS) };
    }),
  },
}).createMachine({
  id: 'lease',
  description: 'The lease by which the cluster knows that the node is alive.',
  meta: {
    deadlines: ({ since, snapshot: { context } }: ActorInfo<LeaseContext>) => ({
      dueAt: since + context.untilRenewalMs,
    }),
  },
  context: ({ input }) => ({
    ...input,
    untilRenewalMs: input.renewalIntervalMs,
    wasNodeRegistered: false,
    waitMs: INITIAL_RETRY_MS,
    retryAt: 0,
  }),
  initial: 'renewing',
  states: {
    renewing: {
      description: 'The lease is renewed, or created if it is missing.',
      tags: 'working',
      meta: { waitsFor: 'the lease to be renewed' },
      entry: 'clearNodeRegistered',
      invoke: {
        src: 'renewLease',
        input: null,
        onDone: [
          { guard: 'isLeaseHeld', target: 'current', actions: ['reportRecovery', 'recordRenewal'] },
          {
            guard: 'wasNodeRegistered',
            target: 'renewing',
            reenter: true,
            actions: ['reportRecovery', 'recordRenewal'],
            meta: { coverageGap: NODE_RARELY_DELETED },
          },
          { target: 'awaitingNode', actions: ['reportRecovery', 'recordRenewal'] },
        ],
        onError: { target: 'awaitingRetry', actions: 'recordFailure' },
      },
      on: { 'node.registered': { actions: 'recordNodeRegistered' } },
    },
    current: {
      description: 'The lease is valid. It is renewed four times per lease duration.',
      tags: 'steady',
      meta: { waitsFor: 'the next renewal of the lease', until: 'dueAt' },
      invoke: after(({ untilRenewalMs }: LeaseContext) => untilRenewalMs),
      on: { 'timer.elapsed': 'renewing', 'node.registered': {} },
    },
    awaitingNode: {
      description:
        'The cluster has no Node object, without which the node needs no lease. The next check follows after the renewal interval.',
      tags: 'waiting',
      meta: { waitsFor: 'the Node object, without which there is no lease', until: 'dueAt' },
      invoke: after(({ untilRenewalMs }: LeaseContext) => untilRenewalMs),
      on: {
        'timer.elapsed': { target: 'renewing', meta: { coverageGap: NODE_RARELY_DELETED } },
        'node.registered': 'renewing',
      },
    },
    awaitingRetry: {
      ...retryWaitState({
        description:
          'The lease could not be renewed. Another attempt follows after a delay that grows up to 7 s, before the cluster considers the node unreachable.',
        waitsFor: 'another attempt to renew the lease',
        withinMs: MAX_RETRY_MS,
      }),
      on: { 'timer.elapsed': 'renewing', 'node.registered': 'renewing' },
    },
  },
});
