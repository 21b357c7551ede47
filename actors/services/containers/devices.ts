/** Implements the ports of the device manager over the device plugins and the checkpoint file. */
import { messageOf, NodeFailure } from '../../../base/failure.ts';
import type { Clock } from '../../../base/time/clock.ts';
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
  readonly clock: Clock;
}

export function deviceServices({
  devicePlugins,
  deviceState,
  clock,
}: DeviceServiceDependencies): Pick<
  PortServices,
  'preferDevices' | 'allocateDevices' | 'saveDevices' | 'prepareDevices'
> {
  return {
    preferDevices: async ({ resource, request }, options) => ({
      preferred: await requirePart(devicePlugins).preferredDevices(resource, request, options),
    }),
    allocateDevices: async ({ resource, devices }, options) => ({
      edits: await requirePart(devicePlugins).allocate(resource, devices, options),
    }),
    saveDevices: async (pool) => {
      await requirePart(deviceState)
        .save(pool)
        .catch((cause: unknown) => {
          const message = `the allocated devices could not be saved: ${messageOf(cause)}`;
          throw new NodeFailure('StoreFailed', message, { cause });
        });
      return null;
    },
    prepareDevices: async ({ pod, container }, options) => {
      if (deviceState === undefined) return { areDevicesMissing: false, at: clock.now() };
      const dependencies = { devicePlugins: requirePart(devicePlugins), deviceState };
      const areDevicesMissing = await prepareDevices(dependencies, pod, findContainer(pod, container), options);
      return { areDevicesMissing, at: clock.now() };
    },
  };
}

/**
 * Has the device plugins prepare the devices of a container before it is created (`callPreStartContainerIfNeeded` in
 * `pkg/kubelet/cm/devicemanager/manager.go`). Returns whether any of the container's devices are missing, e.g. because
 * the device checkpoint is lost. Like the kubelet, rejects if a plugin would have to prepare a missing device.
 */
async function prepareDevices(
  { devicePlugins, deviceState }: { readonly devicePlugins: DevicePlugins; readonly deviceState: DeviceManagerState },
  pod: Pod,
  container: Container,
  options: { readonly signal: AbortSignal },
): Promise<boolean> {
  const { uid } = pod.metadata;
  const missingResources = deviceState.resourcesWithoutDevices(pod, container);
  const unpreparedResource = missingResources.find(({ options: { needsPreStart } }) => needsPreStart);
  if (unpreparedResource !== undefined) {
    throw new NodeFailure(
      'CreateContainerConfigError',
      `no devices found allocated in local cache for pod ${uid}, container ${container.name}, resource ${unpreparedResource.name}`,
    );
  }
  for (const { resource, devices } of deviceState.devicesToPrepare(uid, container.name)) {
    await devicePlugins.preStart(resource, devices, options).catch((cause: unknown) => {
      const message = `device plugin PreStartContainer rpc failed with err: ${messageOf(cause)}`;
      throw new NodeFailure('CreateContainerConfigError', message, { cause });
    });
  }
  return missingResources.length > 0;
}

/** Returns `part`, or throws on a node without device plugins, where these ports are not called. */
function requirePart<T>(part: T | undefined): T {
  if (part !== undefined) return part;
  throw new NodeFailure('InternalError', 'the node has no device plugins');
}
