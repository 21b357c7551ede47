/** Implements the ports of the device manager over the device plugins and the checkpoint file. */
import { messageOf, NodeFailure } from '../../../base/failure.ts';
import type { Container } from '../../../kubernetes/api/schema/container.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type { PortServices } from '../../boundary.ts';
import type { DeviceManagerState } from '../../devices/deviceManagerState.ts';
import type { DevicePlugins } from '../../devices/devicePlugins.ts';
import { findContainer } from './containers.ts';

export interface DeviceServiceDependencies {
  /** Undefined if the node has no device plugins. */
  readonly devicePlugins?: DevicePlugins | undefined;
  readonly deviceState: DeviceManagerState | undefined;
}

export function deviceServices({
  devicePlugins,
  deviceState,
}: DeviceServiceDependencies): Pick<
  PortServices,
  'preferDevices' | 'allocateDevices' | 'saveDevices' | 'prepareDevices'
> {
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
    prepareDevices: async ({ pod, container }, options) => {
      if (deviceState === undefined) return null;
      const dependencies = { devicePlugins: required(devicePlugins), deviceState };
      await prepareDevices(dependencies, pod, findContainer(pod, container), options);
      return null;
    },
  };
}

/**
 * Has the plugins of a container's devices prepare them before the container is created
 * (`callPreStartContainerIfNeeded` in `pkg/kubelet/cm/devicemanager/manager.go`). Rejects if devices are not allocated,
 * e.g. because the allocations of the previous agent are lost.
 */
async function prepareDevices(
  { devicePlugins, deviceState }: { readonly devicePlugins: DevicePlugins; readonly deviceState: DeviceManagerState },
  pod: Pod,
  container: Container,
  options: { readonly signal: AbortSignal },
): Promise<void> {
  const { uid } = pod.metadata;
  const missingResource = deviceState.resourceWithoutDevices(pod, container);
  if (missingResource !== undefined) {
    throw new NodeFailure(
      'CreateContainerConfigError',
      `no devices found allocated in local cache for pod ${uid}, container ${container.name}, resource ${missingResource}`,
    );
  }
  for (const { resource, devices } of deviceState.devicesToPrepare(uid, container.name)) {
    await devicePlugins.preStart(resource, devices, options).catch((cause: unknown) => {
      const message = `device plugin PreStartContainer rpc failed with err: ${messageOf(cause)}`;
      throw new NodeFailure('CreateContainerConfigError', message, { cause });
    });
  }
}

/** Returns a part that only nodes with device plugins have. No other node calls these ports. */
function required<T>(part: T | undefined): T {
  if (part !== undefined) return part;
  throw new NodeFailure('InternalError', 'the node has no device plugins');
}
