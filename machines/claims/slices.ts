/**
 * Deletes ResourceSlices of the node and retries until that succeeds (`wipeResourceSlices` in
 * `pkg/kubelet/cm/dra/plugin/dra_plugin_manager.go`).
 */
import { assign, setup } from 'xstate';
import type { Failure } from '../../base/failure.ts';
import type { TimerEvent } from '../shared/events/slots.ts';
import { port, timerPort } from '../shared/ports.ts';
import type { ActorInfo, StateMeta, StateTag } from '../shared/stateMeta.ts';
import { failureOf } from '../shared/waiting/failure.ts';
import { after } from '../shared/waiting/waits.ts';

const [FIRST_RETRY_MS, MAX_RETRY_MS] = [1_000, 300_000];

export type SlicesInput = {
  /** The driver whose slices are deleted. Undefined to delete the slices of all drivers. */
  readonly driver?: string | undefined;
};

type SlicesContext = SlicesInput & {
  readonly failureCount: number;
  readonly failure?: Failure | undefined;
};

const retryDelay = ({ failureCount }: SlicesContext): number =>
  Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.max(0, failureCount - 1));

export const slicesMachine = setup({
  types: {
    input: {} as SlicesInput,
    context: {} as SlicesContext,
    events: {} as TimerEvent,
    meta: {} as StateMeta,
    tags: {} as StateTag,
  },
  actors: { deleteResourceSlices: port('deleteResourceSlices'), timer: timerPort() },
  actions: {
    recordFailure: assign(({ context, event }) => ({
      failure: failureOf(event),
      failureCount: context.failureCount + 1,
    })),
  },
}).createMachine({
  id: 'slices',
  description: 'The deletion of ResourceSlices, which would otherwise attract pods to devices that no driver prepares.',
  meta: {
    deadlines: ({ since, snapshot: { context } }: ActorInfo<SlicesContext>) => ({
      retryAt: since + retryDelay(context),
    }),
  },
  context: ({ input }) => ({ ...input, failureCount: 0 }),
  initial: 'deleting',
  states: {
    deleting: {
      description: 'The ResourceSlices of this node are deleted at the API server.',
      tags: 'working',
      meta: { waitsFor: 'the ResourceSlices to be deleted' },
      invoke: {
        src: 'deleteResourceSlices',
        input: ({ context: { driver } }) => ({ driver }),
        onDone: 'deleted',
        onError: { target: 'awaitingRetry', actions: 'recordFailure' },
      },
    },
    awaitingRetry: {
      description: 'The ResourceSlices could not be deleted. Another attempt follows after a growing delay.',
      tags: 'retrying',
      meta: { waitsFor: 'another attempt to delete the ResourceSlices', until: 'retryAt' },
      invoke: after(retryDelay),
      on: { 'timer.elapsed': 'deleting' },
    },
    deleted: {
      description: 'The ResourceSlices are deleted.',
      tags: 'done',
      type: 'final',
    },
  },
});
