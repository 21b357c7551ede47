/**
 * Stores the allocated devices in the kubelet's checkpoint file, so that a kubelet and this agent can continue from each
 * other's allocations.
 */
import { join } from 'node:path';
import { messageOf, NodeFailure } from '../../base/failure.ts';
import { isMissing } from '../../host/files/fileErrors.ts';
import type { FileSystem } from '../../host/files/fileSystem.ts';
import { replaceFile } from '../../host/files/replaceFile.ts';
import type { Container } from '../../kubernetes/api/schema/container.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { formatDeviceCheckpoint, parseDeviceCheckpoint } from '../../kubernetes/devices/deviceCheckpoint.ts';
import {
  type ContainerEdits,
  type DeviceResource,
  deviceIdsOf,
  findResource,
  healthyDevices,
  mergeEdits,
} from '../../kubernetes/devices/devices.ts';
import { allocationsOf, type DevicePool } from '../../kubernetes/devices/reserveDevices.ts';
import { isAllocatedAsDevice } from '../../kubernetes/resources/devices.ts';
import { amountOf } from '../../kubernetes/resources/resources.ts';
import { decodeEdits, encodeEdits } from './pluginMessages.ts';

export const CHECKPOINT_NAME = 'kubelet_internal_checkpoint';

/** The devices of one resource that are allocated to a container. */
export interface ContainerDevices {
  readonly resource: string;
  readonly devices: readonly string[];
}

/** The durable allocations, from which new containers get their devices. */
export class DeviceManagerState {
  readonly #files: FileSystem;
  readonly #directory: string;
  #pool: DevicePool = { allocations: [], resources: [] };
  #lastSave: Promise<void> = Promise.resolve();

  /** `directory` is the directory of device plugins. */
  constructor(files: FileSystem, directory: string) {
    this.#files = files;
    this.#directory = directory;
  }

  /** The current allocations, with the resources as they were when the allocations were last saved. */
  get pool(): DevicePool {
    return this.#pool;
  }

  /**
   * Reads the allocations of the previous agent. The resources have no devices until their plugins register. A damaged
   * file counts as missing, as in the kubelet, and `onProblem` receives the reason.
   */
  async load(onProblem: (failure: NodeFailure) => void): Promise<void> {
    try {
      const { entries, registered } = parseDeviceCheckpoint(await this.#files.readFile(this.#path));
      this.#pool = {
        allocations: entries.map(({ response, ...entry }) => ({ ...entry, edits: decodeEdits(response) })),
        resources: registered.map(({ resource: name }) => ({
          name,
          devices: [],
          options: { needsPreStart: false, hasPreferences: false },
          isConnected: false,
        })),
      };
    } catch (cause) {
      if (isMissing(cause)) return;
      const message = `the allocated devices in ${this.#path} cannot be read: ${messageOf(cause)}`;
      onProblem(new NodeFailure('StoreDamaged', message, { cause }));
    }
  }

  get #path(): string {
    return join(this.#directory, CHECKPOINT_NAME);
  }

  /** Replaces the allocations durably and atomically. Concurrent calls are serialized. */
  save(pool: DevicePool): Promise<void> {
    const save = this.#lastSave.then(() => this.#write(pool));
    this.#lastSave = save.catch(() => {});
    return save;
  }

  async #write(pool: DevicePool): Promise<void> {
    const { allocations, resources } = pool;
    await this.#files.mkdir(this.#directory, { recursive: true, mode: 0o750 });
    const content = formatDeviceCheckpoint({
      entries: allocations.flatMap(({ edits, ...entry }) =>
        edits === undefined ? [] : [{ ...entry, response: encodeEdits(edits) }],
      ),
      registered: resources.map((resource) => ({ resource: resource.name, healthyIds: healthyDevices(resource) })),
    });
    await replaceFile(this.#files, this.#path, { content, mode: 0o600 });
    this.#pool = pool;
  }

  /** Returns the registered resources that a container requests and for which it has no allocated devices. */
  resourcesWithoutDevices(pod: Pod, { name, resources }: Container): readonly DeviceResource[] {
    const allocatedResources = allocationsOf(this.#pool, pod.metadata.uid, name).map(({ resource }) => resource);
    return this.#pool.resources.filter(
      (resource) =>
        amountOf(resources, 'limits', resource.name) > 0 &&
        !allocatedResources.includes(resource.name) &&
        !isAllocatedAsDevice(pod, resource.name),
    );
  }

  /** Returns a container's devices whose plugins require `PreStartContainer`, grouped by resource. */
  devicesToPrepare(podUid: string, container: string): readonly ContainerDevices[] {
    const { resources } = this.#pool;
    return allocationsOf(this.#pool, podUid, container)
      .filter(({ resource }) => findResource(resources, resource)?.options.needsPreStart)
      .map((allocation) => ({ resource: allocation.resource, devices: deviceIdsOf(allocation) }));
  }

  /** Returns the changes to a container's configuration that the plugins of its devices require. */
  editsOf(podUid: string, container: string): ContainerEdits {
    const allocations = allocationsOf(this.#pool, podUid, container);
    return mergeEdits(allocations.flatMap(({ edits }) => (edits === undefined ? [] : [edits])));
  }
}
