/** Defines the events between admission, the device plugins and the pods. */

import type { Failure } from '../../../base/failure.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type {
  ContainerEdits,
  DeviceAllocation,
  DeviceCount,
  DeviceResource,
  DeviceStatus,
  PluginDevice,
  PluginOptions,
} from '../../../kubernetes/devices/devices.ts';
import type { DeviceReservation } from '../../../kubernetes/devices/reserveDevices.ts';
import type { ActorPath, TimerEvent } from './slots.ts';

/** Facts about the device plugins of the host. */
export type DeviceFact =
  /** A plugin has registered a resource. */
  | { type: 'device.pluginConnected'; resource: string; options: PluginOptions; at: number }
  /** All devices of a resource. */
  | { type: 'device.devicesListed'; resource: string; devices: readonly PluginDevice[]; at: number }
  | { type: 'device.pluginDisconnected'; resource: string; at: number }
  /** Plugins can register again, or the reason why they cannot register has changed. */
  | { type: 'device.registrationChanged'; problem?: string; at: number };

/** Devices reserved for a container, which their plugin has yet to prepare. */
interface ReservedDevices {
  readonly uid: string;
  readonly container: string;
  readonly resource: string;
}

/** Events that the device manager receives. */
export type DevicesEvent =
  | DeviceFact
  /** Admission has reserved devices for a pod, which the plugins have to allocate. */
  | { type: 'devices.reserved'; uid: string; pod: string; reservations: readonly DeviceReservation[] }
  /** Admission has replaced the reserved devices with those that the plugin prefers. */
  | ({ type: 'devices.chosen'; devices: readonly string[] } & ReservedDevices)
  /** Admission has recorded or released allocations. */
  | { type: 'devices.assigned'; allocations: readonly DeviceAllocation[]; revision: number }
  /** The pod no longer needs devices, so its allocation is cancelled. */
  | { type: 'devices.released'; uid: string }
  /** The plugin of a resource has been missing for the whole grace period. */
  | { type: 'plugin.expired'; resource: string }
  | TimerEvent;

/** Commands to the actor of one plugin. */
export type DevicePluginEvent = { type: 'plugin.connected' } | { type: 'plugin.disconnected' } | TimerEvent;

/** Commands to the actor that allocates the devices of one pod. */
export type DeviceAllocationEvent = { type: 'allocation.chosen'; devices: readonly string[] };

/** Events that admission receives from the device manager. */
export type DeviceReport =
  /** The resources of all plugins. */
  | { type: 'admission.devicesChanged'; resources: readonly DeviceResource[] }
  | ({ type: 'admission.devicesPreferred'; preferred: readonly string[] } & ReservedDevices)
  | ({ type: 'admission.devicesAllocated'; edits: ContainerEdits } & ReservedDevices)
  /** The plugin could not allocate the devices, so the pod is refused. */
  | { type: 'admission.devicesFailed'; uid: string; problem: string; at: number }
  /** The allocations with this revision number, and all earlier ones, are durable. */
  | { type: 'admission.devicesSaved'; revision: number };

/** Requests devices for a container that is about to be created and has lost its devices. */
export interface ReallocationRequest {
  type: 'admission.reallocateDevices';
  pod: Pod;
  container: string;
  at: number;
  /** The actor that receives the result. */
  holder: ActorPath;
}

/** The result of a `ReallocationRequest`. */
export type ReallocationResult =
  | { type: 'container.devicesAllocated' }
  | { type: 'container.devicesRefused'; error: Failure };

/** The device counts that the node reports have changed. */
export type DeviceCountReport = { type: 'devices.counted'; counts: readonly DeviceCount[] };

/** A pod has been admitted with devices, or their health has changed. */
export type DeviceStatusReport = { type: 'admission.devicesReported'; uid: string; devices: readonly DeviceStatus[] };
