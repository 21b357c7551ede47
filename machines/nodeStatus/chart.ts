/** What the cluster is told of the node: at once where that has changed, and every so often in any case. */
import { assign, setup } from 'xstate';
import type { Failure } from '../../pod/failure.ts';
import type { NodeStatusEvent } from '../shared/events.ts';
import { failureOf } from '../shared/failure.ts';
import { port, timerPort } from '../shared/ports.ts';
import type { Seen, StateMeta, StateTag } from '../shared/stateMeta.ts';

// Not an interface: the types of the package would have to name it.
export type NodeStatusInput = {
  /** How often it is looked whether there is something to tell, in milliseconds. */
  readonly checkMs: number;
};

export type NodeStatusContext = NodeStatusInput & {
  /** Something has changed while the last status was being told. */
  readonly isStale: boolean;
  readonly retryAt: number;
  readonly failure?: Failure | undefined;
};

export const nodeStatusMachine = setup({
  types: {
    input: {} as NodeStatusInput,
    context: {} as NodeStatusContext,
    events: {} as NodeStatusEvent,
    meta: {} as StateMeta,
    tags: {} as StateTag,
  },
  actors: { putNodeStatus: port('putNodeStatus'), timer: timerPort() },
  guards: { isStale: ({ context }) => context.isStale },
  actions: {
    markStale: assign({ isStale: true }),
    begin: assign({ isStale: false }),
    recordTold: assign({ failure: undefined }),
    recordFailure: assign(({ context: { checkMs }, event }) => {
      const failure = failureOf(event);
      return { failure, retryAt: failure.at + checkMs };
    }),
  },
}).createMachine({
  id: 'nodeStatus',
  description: 'The status of the Node object: reported on change, and every so often in any case.',
  meta: {
    moments: ({ since, snapshot: { context } }: Seen<NodeStatusContext>) => ({ dueAt: since + context.checkMs }),
  },
  context: ({ input }) => ({ ...input, isStale: false, retryAt: 0 }),
  initial: 'awaitingRegistration',
  states: {
    awaitingRegistration: {
      tags: 'waiting',
      meta: { waitsFor: 'the node to be registered' },
      on: { 'node.registered': 'reporting', 'node.changed': {} },
    },
    reporting: {
      tags: 'working',
      meta: { waitsFor: 'the node status to be acknowledged' },
      entry: 'begin',
      invoke: {
        src: 'putNodeStatus',
        input: null,
        onDone: [
          { guard: 'isStale', target: 'reporting', reenter: true, actions: 'recordTold' },
          { target: 'current', actions: 'recordTold' },
        ],
        onError: { target: 'awaitingRetry', actions: 'recordFailure' },
      },
      on: { 'node.changed': { actions: 'markStale' } },
    },
    current: {
      tags: 'steady',
      meta: { waitsFor: 'the next check of the node status', until: 'dueAt' },
      invoke: { src: 'timer', input: ({ context }) => ({ after: context.checkMs }) },
      on: { 'timer.elapsed': 'reporting', 'node.changed': 'reporting' },
    },
    awaitingRetry: {
      tags: 'retrying',
      meta: { waitsFor: 'another attempt to report the node status', until: 'retryAt' },
      invoke: { src: 'timer', input: ({ context }) => ({ until: context.retryAt, within: context.checkMs }) },
      on: { 'timer.elapsed': 'reporting', 'node.changed': 'reporting' },
    },
  },
});
