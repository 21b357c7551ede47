/** Reports the device plugins of the host and their devices. */
import type { Clock } from '../../base/time/clock.ts';
import type { FactFeed } from '../boundary.ts';
import type { DevicePlugins } from '../devices/devicePlugins.ts';
import type { ServiceAction } from '../serviceAction.ts';

interface DevicePluginFeedDependencies {
  /** Undefined if the node has no device plugins. */
  readonly devicePlugins?: DevicePlugins | undefined;
  readonly clock: Clock;
  readonly onServiceAction?: ((action: ServiceAction) => void) | undefined;
}

export function createDevicePluginFeed({
  devicePlugins,
  clock,
  onServiceAction,
}: DevicePluginFeedDependencies): FactFeed {
  return (send, { signal }) => {
    const listener = {
      onConnected: (resource, options) => send({ type: 'device.pluginConnected', resource, options, at: clock.now() }),
      onDevices: (resource, devices) => send({ type: 'device.devicesListed', resource, devices, at: clock.now() }),
      onDisconnected: (resource) => send({ type: 'device.pluginDisconnected', resource, at: clock.now() }),
      onRegistration: (resource) => onServiceAction?.({ action: 'devicePluginRegistered', resource }),
      onProblem: (problem) =>
        send({ type: 'device.registrationChanged', ...(problem === undefined ? {} : { problem }), at: clock.now() }),
    } satisfies Parameters<DevicePlugins['follow']>[0];
    return devicePlugins?.follow(listener, { signal });
  };
}
