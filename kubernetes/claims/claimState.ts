/**
 * Defines the state that the node records for a ResourceClaim that it prepares (`pkg/kubelet/cm/dra/state/state.go`).
 */

export type DeviceHealthStatus = 'Healthy' | 'Unhealthy' | 'Unknown';

/** A device that a driver has prepared for a claim. */
export interface ClaimDevice {
  readonly poolName: string;
  readonly deviceName: string;
  /** ID of this claim's share of a device that several claims share. Undefined if the claim has the whole device. */
  readonly shareId?: string | undefined;
  /** The requests of the claim that the device fulfils. Empty if it fulfils all of them. */
  readonly requestNames: readonly string[];
  /** Fully qualified CDI device names, by which the runtime injects the device into a container. */
  readonly cdiIds: readonly string[];
  /** The health that the driver has reported. Undefined if it has reported none. */
  readonly health?: { readonly status: DeviceHealthStatus; readonly message: string } | undefined;
}

/** A driver that has allocated devices to a claim, and the devices that it has prepared. */
export interface ClaimDriver {
  readonly name: string;
  readonly devices: readonly ClaimDevice[];
}

/** A claim that is, or is about to be, prepared on the node. */
export interface ClaimState {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
  /** The pods on the node that use the claim. */
  readonly podUids: readonly string[];
  readonly drivers: readonly ClaimDriver[];
  /**
   * Whether this agent has prepared the claim. As in the kubelet, this is not persisted, so it is false after a restart
   * of the agent.
   */
  readonly isPrepared: boolean;
}

/** Returns the key of a claim. It is unique, because neither part can contain a slash. */
export const claimKey = ({ namespace, name }: Pick<ClaimState, 'namespace' | 'name'>): string => `${namespace}/${name}`;

/** A DRA driver whose plugin has registered. */
export interface RegisteredDriver {
  readonly name: string;
  /** Whether at least one plugin of the driver is connected. */
  readonly isConnected: boolean;
  /** The gRPC service to call on the plugin, e.g. `v1.DRAPlugin`. */
  readonly service: string;
  readonly endpoints: readonly string[];
}
