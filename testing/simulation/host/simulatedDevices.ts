/** The device plugin of a simulated host, which outlives the agents. */
import type { DevicePluginListener, DevicePlugins } from '../../../actors/devices/devicePlugins.ts';
import { type ContainerEdits, NO_EDITS, type PluginDevice } from '../../../kubernetes/devices/devices.ts';
import { callError } from '../faults/failures.ts';
import type { TemporaryFaults } from '../faults/temporaryFaults.ts';
import type { Gate } from '../run/gate.ts';

/** The resource that the plugin provides. */
export const DEVICE_RESOURCE = 'simulated.example/device';

/**
 * Number of devices, half of which are on NUMA node 0 and half on NUMA node 1. Containers retain their devices while
 * the plugin is stopped.
 */
export const DEVICE_COUNT = 4;

const OPTIONS = { needsPreStart: true, hasPreferences: true };

/** Environment variable that contains the IDs of a container's devices, separated by commas. */
export const DEVICE_VARIABLE = 'DEVICES';

export class SimulatedDevices {
  #devices: readonly PluginDevice[] = Array.from({ length: DEVICE_COUNT }, (_, index) => ({
    id: `d${index}`,
    isHealthy: true,
    numaNodes: [index < DEVICE_COUNT / 2 ? 0 : 1],
  }));
  #isConnected = true;
  readonly #listeners = new Set<DevicePluginListener>();
  readonly #faults: TemporaryFaults;

  constructor(faults: TemporaryFaults) {
    this.#faults = faults;
  }

  addListener(listener: DevicePluginListener): () => void {
    this.#listeners.add(listener);
    listener.onProblem(undefined);
    if (this.#isConnected) this.#register(listener);
    return () => void this.#listeners.delete(listener);
  }

  #register(listener: DevicePluginListener): void {
    listener.onRegistration(DEVICE_RESOURCE);
    listener.onConnected(DEVICE_RESOURCE, OPTIONS);
    listener.onDevices(DEVICE_RESOURCE, this.#devices);
  }

  /** Stops the plugin for `forMs`. */
  stopPlugin(forMs: number): void {
    this.#isConnected = false;
    for (const each of this.#listeners) each.onDisconnected(DEVICE_RESOURCE);
    this.#faults.start('device plugin', forMs, () => {
      this.#isConnected = true;
      for (const each of this.#listeners) this.#register(each);
    });
  }

  /** Makes a device unhealthy for `forMs`. */
  breakDevice(which: number, forMs: number): void {
    const { id } = this.#devices[which % this.#devices.length] ?? {};
    const setHealth = (isHealthy: boolean) => {
      this.#devices = this.#devices.map((device) => (device.id === id ? { ...device, isHealthy } : device));
      if (!this.#isConnected) return;
      for (const each of this.#listeners) each.onDevices(DEVICE_RESOURCE, this.#devices);
    };
    setHealth(false);
    this.#faults.start(`device ${id}`, forMs, () => setHealth(true));
  }

  /** Throws while the plugin is stopped. */
  requirePlugin(): void {
    if (!this.#isConnected) throw new Error('rpc error: code = Unavailable desc = connection refused');
  }
}

const editsFor = (ids: readonly string[]): ContainerEdits => ({
  ...NO_EDITS,
  envs: [[DEVICE_VARIABLE, ids.join(',')]],
  devices: ids.map((id) => ({ containerPath: `/dev/${id}`, hostPath: '/dev/null', permissions: 'rw' })),
});

/** Returns the plugin as one agent accesses it, through its gate. */
export function gatedDevicePlugins(devices: SimulatedDevices, gate: Gate): DevicePlugins {
  const call = <T>(name: string, writes: boolean, act: () => T): Promise<T> => {
    const outsideCall = { target: 'network', name, about: `${DEVICE_RESOURCE}:1`, writes } as const;
    return gate.pass(outsideCall, {
      act: () => {
        devices.requirePlugin();
        return act();
      },
      failure: (code) => callError(outsideCall, code),
    });
  };
  return {
    follow: (listener, { signal }) =>
      new Promise((resolve) => {
        const removeListener = devices.addListener({
          onConnected: (...args) => gate.isClosed || listener.onConnected(...args),
          onDevices: (...args) => gate.isClosed || listener.onDevices(...args),
          onDisconnected: (...args) => gate.isClosed || listener.onDisconnected(...args),
          onRegistration: (...args) => gate.isClosed || listener.onRegistration(...args),
          onProblem: (...args) => gate.isClosed || listener.onProblem(...args),
        });
        signal.addEventListener(
          'abort',
          () => {
            removeListener();
            resolve();
          },
          { once: true },
        );
      }),
    // Prefers the devices with the highest numbers.
    preferredDevices: (_, { available, count }) =>
      call('preferredDevices', false, () => available.toSorted().toReversed().slice(0, count)),
    allocate: (_, ids) => call('allocate', true, () => editsFor(ids)),
    preStart: () => call('preStart', true, () => {}),
  };
}
