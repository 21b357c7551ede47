/** Defines the node's access to the drivers of dynamic resource allocation. */
import type { CallOptions } from '../../cri/client/calls.ts';
import type {
  ClaimDevice,
  ClaimState,
  DeviceHealthStatus,
  RegisteredDriver,
} from '../../kubernetes/claims/claimState.ts';

export type ClaimReference = Pick<ClaimState, 'namespace' | 'uid' | 'name'>;

/** A driver's response for one claim. `error` is empty if the call succeeded for the claim. */
export interface ClaimResult {
  readonly uid: string;
  readonly error: string;
}

export interface PrepareResult extends ClaimResult {
  readonly devices: readonly ClaimDevice[];
}

export interface DeviceHealthReport {
  readonly poolName: string;
  readonly deviceName: string;
  readonly status: DeviceHealthStatus;
  readonly message: string;
  /** Seconds after which the report is outdated. Zero or a negative value means the default. */
  readonly timeoutSeconds: number;
}

export interface DriverListener {
  /** Called with all drivers when any of them has changed. */
  driversChanged(drivers: readonly RegisteredDriver[]): void;
  /** Receives the health of devices. Undefined if device health is not monitored. */
  readonly health?: HealthListener;
}

export interface HealthListener {
  /** Called with the health of all devices of a driver. */
  reported(driver: string, devices: readonly DeviceHealthReport[]): void;
  /** Called when a driver has stopped reporting the health of its devices. */
  lost(driver: string): void;
}

export interface ResourceDrivers {
  /** Watches the registration of drivers until the signal aborts. */
  follow(listener: DriverListener, signal: AbortSignal): Promise<void>;
  /** Throws an error with the kubelet's message if the driver is not registered. */
  requireRegistered(driver: string): void;
  /** Prepares the claims. Rejects with the gRPC error if the call fails or times out. The call is idempotent. */
  prepare(driver: string, claims: readonly ClaimReference[], options: CallOptions): Promise<readonly PrepareResult[]>;
  /** Unprepares the claims. Rejects with the gRPC error if the call fails or times out. The call is idempotent. */
  unprepare(driver: string, claims: readonly ClaimReference[], options: CallOptions): Promise<readonly ClaimResult[]>;
}

export function throwNotRegistered(driver: string): never {
  throw new Error(driver === '' ? 'DRA driver name is empty' : `DRA driver ${driver} is not registered`);
}

/** Driver access for a node on which no drivers can register. */
export const noDrivers: ResourceDrivers = {
  follow: async (_listener, signal) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
    await promise;
  },
  requireRegistered: throwNotRegistered,
  prepare: async (driver) => throwNotRegistered(driver),
  unprepare: async (driver) => throwNotRegistered(driver),
};
