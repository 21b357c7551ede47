import type { PreferenceRequest } from '../../kubernetes/devices/chooseDevices.ts';
import type { ContainerEdits, PluginDevice, PluginOptions } from '../../kubernetes/devices/devices.ts';

/** Callbacks about the device plugins of a host. */
export interface DevicePluginListener {
  /** Called when a plugin has registered a resource, even if it provided the resource before. */
  readonly onConnected: (resource: string, options: PluginOptions) => void;
  /** Called with all devices of a resource, initially and on each change. */
  readonly onDevices: (resource: string, devices: readonly PluginDevice[]) => void;
  /** Called when the connection to the plugin of a resource is lost. */
  readonly onDisconnected: (resource: string) => void;
  /** Called for each registration request, even if it is rejected. */
  readonly onRegistration: (resource: string) => void;
  /** Called with the reason why plugins cannot register, and with undefined once they can. */
  readonly onProblem: (why: string | undefined) => void;
}

interface CallOptions {
  readonly signal: AbortSignal;
}

/**
 * The device plugins of a host. Calls reject with a `NodeFailure` whose message is the plugin's error as Go's gRPC
 * library formats it.
 */
export interface DevicePlugins {
  /** Accepts registrations and watches the plugins until the signal aborts. */
  follow(listener: DevicePluginListener, options: CallOptions): Promise<void>;
  /** Calls `GetPreferredAllocation`. */
  preferredDevices(resource: string, request: PreferenceRequest, options: CallOptions): Promise<readonly string[]>;
  /** Calls `Allocate` for one container. There is no time limit, as in the kubelet. */
  allocate(resource: string, devices: readonly string[], options: CallOptions): Promise<ContainerEdits>;
  /** Calls `PreStartContainer`. Has a time limit. */
  preStart(resource: string, devices: readonly string[], options: CallOptions): Promise<void>;
}
