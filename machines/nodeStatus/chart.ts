/** Reports the node status to the cluster on change and at regular intervals. */
import { assertEvent, assign, enqueueActions, setup } from 'xstate';
import type { Failure } from '../../base/failure.ts';
import { involvedNode, type RecordedEvent, recordedEvents } from '../../kubernetes/events/recordedEvent.ts';
import type { NodeStatusEvent } from '../shared/events/events.ts';
import { type PortTypes, port, timerPort } from '../shared/ports.ts';
import type { ActorInfo, StateMeta, StateTag } from '../shared/stateMeta.ts';
import { failureOf } from '../shared/waiting/failure.ts';
import { after } from '../shared/waiting/waits.ts';

// A type alias rather than an interface, because generated declaration files can inline an alias but can refer to an
// interface only by name.
export type NodeStatusInput = {
  readonly nodeName: string;
  /** Interval between two checks for changes, in milliseconds. */
  readonly checkMs: number;
};

export type NodeStatusContext = NodeStatusInput & {
  /** Whether the status changed while the previous one was being reported. */
  readonly isStale: boolean;
  readonly retryAt: number;
  readonly failure?: Failure | undefined;
};

/** Time in milliseconds within which a starting node can become ready before it is reported as not ready. */
const STARTUP_GRACE_MS = 5_000;

const statusEvents = (event: object): PortTypes['putNodeStatus']['output']['events'] =>
  // Safe cast: `putNodeStatus` is the only invoked actor that has an output.
  'output' in event ? (event.output as PortTypes['putNodeStatus']['output']).events : [];

export const nodeStatusMachine = setup({
  types: {
    input: {} as NodeStatusInput,
    context: {} as NodeStatusContext,
    events: {} as NodeStatusEvent,
    emitted: {} as RecordedEvent,
    meta: {} as StateMeta,
    tags: {} as StateTag,
  },
  actors: { putNodeStatus: port('putNodeStatus'), timer: timerPort() },
  guards: {
    isStale: ({ context }) => context.isStale,
    isNodeReady: ({ event }) => {
      assertEvent(event, 'node.changed');
      return event.isReady;
    },
  },
  actions: {
    markStale: assign({ isStale: true }),
    clearStale: assign({ isStale: false }),
    recordReported: assign({ failure: undefined }),
    recordEvents: enqueueActions(({ context: { nodeName }, event, enqueue }) => {
      for (const each of recordedEvents(involvedNode(nodeName), statusEvents(event))) enqueue.emit(each);
    }),
    recordFailure: assign(({ context: { checkMs }, event }) => {
      const failure = failureOf(event);
      return { failure, retryAt: failure.at + checkMs };
    }),
  },
}).createMachine({
  id: 'nodeStatus',
  description: 'The status of the Node object: reported on change and at regular intervals.',
  meta: {
    deadlines: ({ since, snapshot: { context } }: ActorInfo<NodeStatusContext>) => ({ dueAt: since + context.checkMs }),
  },
  context: ({ input }) => ({ ...input, isStale: false, retryAt: 0 }),
  initial: 'awaitingRegistration',
  states: {
    awaitingRegistration: {
      description: 'There is no Node object yet whose status could be reported.',
      tags: 'waiting',
      meta: { waitsFor: 'the node to be registered' },
      on: { 'node.registered': 'awaitingReadiness', 'node.changed': {} },
    },
    awaitingReadiness: {
      description:
        'The first checks finish before the status is reported, so that a restart of the agent makes no node NotReady.',
      tags: 'waiting',
      meta: { waitsFor: 'the node to be ready, before its status is reported', afterMs: STARTUP_GRACE_MS },
      invoke: after(STARTUP_GRACE_MS),
      on: { 'timer.elapsed': 'reporting', 'node.changed': { guard: 'isNodeReady', target: 'reporting' } },
    },
    reporting: {
      description: 'The status of the node is sent, if it has changed or was not sent for some time.',
      tags: 'working',
      meta: { waitsFor: 'the node status to be acknowledged' },
      entry: 'clearStale',
      invoke: {
        src: 'putNodeStatus',
        input: null,
        onDone: [
          { guard: 'isStale', target: 'reporting', reenter: true, actions: ['recordReported', 'recordEvents'] },
          { target: 'current', actions: ['recordReported', 'recordEvents'] },
        ],
        onError: { target: 'awaitingRetry', actions: 'recordFailure' },
      },
      on: { 'node.changed': { actions: 'markStale' } },
    },
    current: {
      description:
        'The cluster has the status. It is checked again after ten seconds, or as soon as something changes.',
      tags: 'steady',
      meta: { waitsFor: 'the next check of the node status', until: 'dueAt' },
      invoke: after(({ checkMs }: NodeStatusContext) => checkMs),
      on: { 'timer.elapsed': 'reporting', 'node.changed': 'reporting' },
    },
    awaitingRetry: {
      description:
        'The status could not be sent. Another attempt follows after ten seconds, or as soon as something changes.',
      tags: 'retrying',
      meta: { waitsFor: 'another attempt to report the node status', until: 'retryAt' },
      invoke: after(({ retryAt, checkMs }: NodeStatusContext) => ({ until: retryAt, within: checkMs })),
      on: { 'timer.elapsed': 'reporting', 'node.changed': 'reporting' },
    },
  },
});
