/** Defines the node's access to the drivers of dynamic resource allocation. */
import type { CallOptions } from '../../cri/client/calls.ts';
import type {
  ClaimDevice,
  ClaimState,
  DeviceHealthStatus,
  RegisteredDriver,
} from '../../kubernetes/claims/claimState.ts';

export type ClaimReference = Pick<ClaimState, 'namespace' | 'uid' | 'name'>;

/** A driver's response about one claim. `error` is empty if the call has succeeded for the claim. */
export interface ClaimResult {
  readonly uid: string;
  readonly error: string;
}

export interface PrepareResult extends ClaimResult {
  readonly devices: readonly ClaimDevice[];
}

/** The health of a device as reported by its driver. */
export interface DeviceHealthReport {
  readonly poolName: string;
  readonly deviceName: string;
  readonly status: DeviceHealthStatus;
  readonly message: string;
  /** Time after which the report is outdated, in seconds. Not positive for the default. */
  readonly timeoutSeconds: number;
}

export interface DriverListener {
  /** Called with all drivers when any of them has changed. */
  driversChanged(drivers: readonly RegisteredDriver[]): void;
  /** Receives the health of devices. Undefined if nothing follows it. */
  readonly health?: HealthListener;
}

export interface HealthListener {
  /** Called with the health of all devices of a driver. */
  reported(driver: string, devices: readonly DeviceHealthReport[]): void;
  /** Called when a driver has stopped reporting the health of its devices. */
  lost(driver: string): void;
}

export interface ResourceDrivers {
  /** Follows the registration of drivers until the signal aborts. */
  follow(listener: DriverListener, signal: AbortSignal): Promise<void>;
  /** Throws an error with the kubelet's message if the driver is not registered. */
  requireRegistered(driver: string): void;
  /** Prepares the claims. Rejects with the gRPC error if the call has failed. Has a time limit. Idempotent. */
  prepare(driver: string, claims: readonly ClaimReference[], options: CallOptions): Promise<readonly PrepareResult[]>;
  /** Reverts `prepare`. Rejects with the gRPC error if the call has failed. Has a time limit. Idempotent. */
  unprepare(driver: string, claims: readonly ClaimReference[], options: CallOptions): Promise<readonly ClaimResult[]>;
}

/** Throws the error for a driver that is not registered. */
export function throwNotRegistered(driver: string): never {
  throw new Error(driver === '' ? 'DRA driver name is empty' : `DRA driver ${driver} is not registered`);
}

/** The drivers of a node on which none can register. */
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
