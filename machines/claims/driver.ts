/**
 * Monitors one DRA driver. Once it has been disconnected for some time, its ResourceSlices are deleted so that no more
 * pods are scheduled to its devices (`pkg/kubelet/cm/dra/plugin/dra_plugin_manager.go`).
 */
import { assertEvent, setup } from 'xstate';
import { NO_ACTOR_FAILS, RARELY_TAKEN } from '../shared/coverageGaps.ts';
import type { DriverEvent } from '../shared/events/upkeepEvents.ts';
import { timerPort } from '../shared/ports.ts';
import type { StateMeta, StateTag } from '../shared/stateMeta.ts';
import { after } from '../shared/waiting/waits.ts';
import { slicesMachine } from './slices.ts';

/** Time limit for a disconnected driver to reconnect, in milliseconds (`defaultWipingDelay` in `cm/dra/manager.go`). */
const RETURN_LIMIT_MS = 30_000;

export type DriverInput = { readonly name: string };

export const driverMachine = setup({
  types: {
    input: {} as DriverInput,
    context: {} as DriverInput,
    events: {} as DriverEvent,
    meta: {} as StateMeta,
    tags: {} as StateTag,
    children: {} as { slices: 'slices' },
  },
  actors: { slices: slicesMachine, timer: timerPort() },
  guards: {
    isConnected: ({ event }) => {
      assertEvent(event, 'driver.changed');
      return event.isConnected;
    },
  },
}).createMachine({
  id: 'driver',
  description: 'A driver of dynamic resource allocation, whose ResourceSlices are deleted when it does not come back.',
  context: ({ input }) => input,
  initial: 'disconnected',
  on: { 'driver.changed': { guard: 'isConnected', target: '.connected' } },
  states: {
    connected: {
      description: 'A plugin of the driver is connected.',
      tags: 'steady',
      on: {
        'driver.changed': [{ guard: 'isConnected', meta: { coverageGap: RARELY_TAKEN } }, { target: 'disconnected' }],
      },
    },
    disconnected: {
      description: 'No plugin of the driver is connected. The driver has some time for coming back.',
      tags: 'waiting',
      meta: { waitsFor: 'the driver to connect again', afterMs: RETURN_LIMIT_MS },
      invoke: after(RETURN_LIMIT_MS),
      on: { 'timer.elapsed': 'deletingSlices' },
    },
    deletingSlices: {
      description: 'The ResourceSlices of the driver on this node are deleted, unless it connects again before that.',
      tags: 'working',
      meta: { waitsFor: 'its ResourceSlices to be deleted' },
      invoke: {
        src: 'slices',
        id: 'slices',
        input: ({ context }) => ({ driver: context.name }),
        onDone: 'gone',
        onError: { target: 'gone', meta: { coverageGap: NO_ACTOR_FAILS } },
      },
    },
    gone: {
      description: 'The driver is disconnected, and the node has deleted its ResourceSlices.',
      tags: 'done',
    },
  },
});
