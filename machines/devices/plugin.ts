/** Tracks the connection to the device plugin of one resource (`endpoint.go` in `pkg/kubelet/cm/devicemanager`). */
import { sendTo, setup } from 'xstate';
import type { DevicePluginEvent, DevicesEvent } from '../shared/events/deviceEvents.ts';
import { timerPort } from '../shared/ports.ts';
import type { StateMeta, StateTag } from '../shared/stateMeta.ts';
import { parent } from '../shared/views/actorRefs.ts';
import { after } from '../shared/waiting/waits.ts';

/**
 * Time in milliseconds for which the node still reports the devices of a disconnected plugin (`endpointStopGracePeriod`
 * in `types.go`).
 */
const PLUGIN_GRACE_MS = 300_000;

export type DevicePluginInput = {
  readonly resource: string;
  /**
   * Whether the plugin is connected. After a restart of the agent, a plugin is disconnected until it registers again.
   */
  readonly isConnected: boolean;
};

export const devicePluginMachine = setup({
  types: {
    input: {} as DevicePluginInput,
    context: {} as DevicePluginInput,
    events: {} as DevicePluginEvent,
    meta: {} as StateMeta,
    tags: {} as StateTag,
  },
  actors: { timer: timerPort() },
  guards: { isConnected: ({ context }) => context.isConnected },
  actions: {
    reportExpiry: sendTo(parent<DevicesEvent>(), ({ context: { resource } }) => ({ type: 'plugin.expired', resource })),
  },
}).createMachine({
  id: 'devicePlugin',
  description: 'The device plugin of one resource, and whether it is connected.',
  context: ({ input }) => input,
  initial: 'starting',
  on: { 'plugin.connected': '.connected' },
  states: {
    starting: {
      description: 'The plugin has just registered, or is known from the previous agent.',
      tags: 'working',
      always: [{ guard: 'isConnected', target: 'connected' }, { target: 'missing' }],
    },
    connected: {
      description: 'The plugin is connected and reports its devices.',
      tags: 'steady',
      on: { 'plugin.disconnected': 'missing' },
    },
    missing: {
      description: 'The plugin is not connected, so none of its devices is healthy. It may register again.',
      tags: 'retrying',
      meta: { waitsFor: 'the device plugin to register', afterMs: PLUGIN_GRACE_MS },
      invoke: after(PLUGIN_GRACE_MS),
      on: { 'timer.elapsed': { target: 'removed', actions: 'reportExpiry' } },
    },
    removed: {
      description: 'The plugin has been missing for five minutes. The node has no devices of its resource any more.',
      tags: 'steady',
    },
  },
});
