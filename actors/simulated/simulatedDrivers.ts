/** Simulates the drivers of dynamic resource allocation on a host. The drivers outlive the agents. */
import { type Gate, openGate } from '../../host/simulated/gate.ts';
import type { RegisteredDriver } from '../../kubernetes/claims/claimState.ts';
import {
  type ClaimReference,
  type ClaimResult,
  type DeviceHealthReport,
  type DriverListener,
  type PrepareResult,
  type ResourceDrivers,
  throwNotRegistered,
} from '../claims/resourceDrivers.ts';

interface SimulatedDriver {
  isConnected: boolean;
  /** The claims that are prepared, by UID. */
  readonly prepared: Map<string, ClaimReference>;
  health: readonly DeviceHealthReport[] | undefined;
}

/** The drivers of a simulated host. Each prepares one device per claim, named after the claim. */
export class SimulatedDriverHost {
  readonly #drivers = new Map<string, SimulatedDriver>();
  readonly #listeners = new Set<DriverListener>();

  /** Registers a driver, or reconnects a registered one. */
  connect(name: string): void {
    const driver = this.#drivers.get(name) ?? { isConnected: true, prepared: new Map(), health: undefined };
    driver.isConnected = true;
    this.#drivers.set(name, driver);
    this.#announce();
  }

  /** Breaks the connection of a driver, which stays registered. */
  disconnect(name: string): void {
    const driver = this.#drivers.get(name);
    if (driver === undefined) return;
    driver.isConnected = false;
    for (const listener of this.#listeners) listener.health?.lost(name);
    this.#announce();
  }

  /** Reports the health of all devices of a driver. Returns the number of agents that receive the report. */
  reportHealth(name: string, devices: readonly DeviceHealthReport[]): number {
    const driver = this.#drivers.get(name);
    if (driver === undefined) return 0;
    driver.health = devices;
    const healthListeners = [...this.#listeners].flatMap(({ health }) => health ?? []);
    for (const listener of healthListeners) listener.reported(name, devices);
    return healthListeners.length;
  }

  /** Returns the UIDs of the claims that a driver has prepared. */
  preparedUids(name: string): readonly string[] {
    return [...(this.#drivers.get(name)?.prepared.keys() ?? [])];
  }

  /** Returns the names of the claims that a driver has prepared. */
  preparedNames(name: string): readonly string[] {
    return [...(this.#drivers.get(name)?.prepared.values() ?? [])].map((claim) => claim.name);
  }

  /** Names of the drivers that have registered. */
  get names(): readonly string[] {
    return [...this.#drivers.keys()];
  }

  /** Returns an agent's access to the drivers. Each call goes through the agent's gate. */
  accessThrough(gate: Gate = openGate): ResourceDrivers {
    return {
      follow: async (listener, signal) => {
        if (signal.aborted) return;
        this.#listeners.add(listener);
        listener.driversChanged(this.#registered());
        for (const [name, { health }] of this.#drivers) if (health) listener.health?.reported(name, health);
        const { promise, resolve } = Promise.withResolvers<void>();
        signal.addEventListener('abort', () => resolve(), { once: true });
        await promise;
        this.#listeners.delete(listener);
      },
      requireRegistered: (name) => void this.#find(name),
      prepare: (name, claims) =>
        gate(
          { name: 'prepareResources', about: describeClaims(name, claims), writes: true },
          () => this.#prepare(name, claims),
          () => this.#prepare(name, claims.slice(0, 1)),
        ),
      unprepare: (name, claims) =>
        gate(
          { name: 'unprepareResources', about: describeClaims(name, claims), writes: true },
          () => this.#unprepare(name, claims),
          () => this.#unprepare(name, claims.slice(0, 1)),
        ),
    };
  }

  #prepare(name: string, claims: readonly ClaimReference[]): PrepareResult[] {
    const { prepared } = this.#findConnected(name);
    return claims.map((claim) => {
      prepared.set(claim.uid, claim);
      const device = {
        poolName: 'pool',
        deviceName: claim.name,
        requestNames: [],
        cdiIds: [`${name}/device=${claim.name}`],
      };
      return { uid: claim.uid, error: '', devices: [device] };
    });
  }

  #unprepare(name: string, claims: readonly ClaimReference[]): ClaimResult[] {
    const { prepared } = this.#findConnected(name);
    return claims.map(({ uid }) => {
      prepared.delete(uid);
      return { uid, error: '' };
    });
  }

  #find(name: string): SimulatedDriver {
    return this.#drivers.get(name) ?? throwNotRegistered(name);
  }

  #findConnected(name: string): SimulatedDriver {
    const driver = this.#find(name);
    if (driver.isConnected) return driver;
    throw new Error('rpc error: code = Unavailable desc = connection refused');
  }

  #registered(): RegisteredDriver[] {
    return [...this.#drivers].map(([name, { isConnected }]) => ({
      name,
      isConnected,
      service: 'v1.DRAPlugin',
      endpoints: [`/var/lib/kubelet/plugins/${name}/dra.sock`],
    }));
  }

  #announce(): void {
    for (const listener of this.#listeners) listener.driversChanged(this.#registered());
  }
}

const describeClaims = (name: string, claims: readonly ClaimReference[]): string =>
  `${name}: ${claims.map((claim) => claim.name).join(', ')}`;
