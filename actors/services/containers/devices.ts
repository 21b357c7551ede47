/** Implements the ports of the device manager over the device plugins and the checkpoint file. */
import { messageOf, NodeFailure } from '../../../base/failure.ts';
import type { PortServices } from '../../boundary.ts';
import type { DeviceManagerState } from '../../devices/deviceManagerState.ts';
import type { DevicePlugins } from '../../devices/devicePlugins.ts';

export interface DeviceServiceDependencies {
  /** Undefined if the node has no device plugins. */
  readonly devicePlugins?: DevicePlugins | undefined;
  readonly deviceState: DeviceManagerState | undefined;
}

export function deviceServices({
  devicePlugins,
  deviceState,
}: DeviceServiceDependencies): Pick<PortServices, 'preferDevices' | 'allocateDevices' | 'saveDevices'> {
  return {
    preferDevices: async ({ resource, request }, options) => ({
      preferred: await required(devicePlugins).preferredDevices(resource, request, options),
    }),
    allocateDevices: async ({ resource, devices }, options) => ({
      edits: await required(devicePlugins).allocate(resource, devices, options),
    }),
    saveDevices: async (pool) => {
      await required(deviceState)
        .save(pool)
        .catch((cause: unknown) => {
          const message = `the allocated devices could not be saved: ${messageOf(cause)}`;
          throw new NodeFailure('StoreFailed', message, { cause });
        });
      return null;
    },
  };
}

/** Returns a part that only nodes with device plugins have. No other node calls these ports. */
function required<T>(part: T | undefined): T {
  if (part !== undefined) return part;
  throw new NodeFailure('InternalError', 'the node has no device plugins');
}
