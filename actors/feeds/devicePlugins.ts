/** Reports the device plugins of the host and their devices. */
import type { Clock } from '../../base/time/clock.ts';
import { isJsonEqual } from '../../base/values/isJsonEqual.ts';
import type { PluginDevice } from '../../kubernetes/devices/devices.ts';
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
    /** The devices that were last reported for each resource, sorted by ID. */
    const reportedDevices = new Map<string, readonly PluginDevice[]>();
    const listener = {
      onConnected: (resource, options) => {
        reportedDevices.delete(resource);
        send({ type: 'device.pluginConnected', resource, options, at: clock.now() });
      },
      // Skip an unchanged list. Some plugins resend their list continually, and each report costs an admission pass and
      // a checkpoint write.
      onDevices: (resource, list) => {
        const devices = list.toSorted((first, second) => (first.id < second.id ? -1 : 1));
        if (isJsonEqual(devices, reportedDevices.get(resource))) return;
        reportedDevices.set(resource, devices);
        send({ type: 'device.devicesListed', resource, devices, at: clock.now() });
      },
      onDisconnected: (resource) => send({ type: 'device.pluginDisconnected', resource, at: clock.now() }),
      onRegistration: (resource) => onServiceAction?.({ action: 'devicePluginRegistered', resource }),
      onProblem: (problem) =>
        send({ type: 'device.registrationChanged', ...(problem === undefined ? {} : { problem }), at: clock.now() }),
    } satisfies Parameters<DevicePlugins['follow']>[0];
    return devicePlugins?.follow(listener, { signal });
  };
}
