import { memoize } from '../../../base/values/memoize.ts';
import type { MountedVolumes } from '../../mountedVolume.ts';
import type { ContainerRole, VolumeView } from '../../status/view.ts';
import type { Container } from '../schema/container.ts';
import type { PodSpec } from '../schema/pod.ts';
import type { Volume } from '../schema/volume.ts';

/** A container with its role and its position in the spec (`spec.<field>[<index>]`). */
export interface PlacedContainer {
  readonly container: Container;
  readonly role: ContainerRole;
  readonly field: 'initContainers' | 'containers' | 'ephemeralContainers';
  readonly index: number;
}

/**
 * Whether an init container is a sidecar (C4). A sidecar has its own restartPolicy Always and runs alongside the other
 * containers.
 */
export function isSidecar(init: Container): boolean {
  return init.restartPolicy === 'Always';
}

const mountedVolumeNames = ({ volumeMounts = [] }: Container): string[] => volumeMounts.map(({ name }) => name);

/**
 * Returns the waiting reason of the volumes that a container mounts. If several of these volumes have a waiting reason,
 * the reason of the last volume applies, as in the kubelet (C16).
 */
export function volumeWaitingReason(volumes: readonly VolumeView[], container: Container): VolumeView['waitingReason'] {
  const mountedNames = new Set(mountedVolumeNames(container));
  return volumes.findLast(({ name, waitingReason }) => waitingReason !== undefined && mountedNames.has(name))
    ?.waitingReason;
}

const volumesByName = memoize(
  (spec: PodSpec): ReadonlyMap<string, Volume> => new Map(spec.volumes?.map((volume) => [volume.name, volume])),
);

/**
 * Returns the volume with this name in a pod. Uses a cached map, because each volume and each mount of the pod needs a
 * lookup.
 */
export const findVolumeByName = (spec: PodSpec, name: string): Volume | undefined => volumesByName(spec).get(name);

/** Whether a container mounts a volume of its pod that has not been mounted on the host yet. */
export const hasUnmountedVolume = (spec: PodSpec, container: Container, mountedVolumes: MountedVolumes): boolean =>
  mountedVolumeNames(container).some((name) => volumesByName(spec).has(name) && !Object.hasOwn(mountedVolumes, name));

/**
 * Returns the containers that wait for one of these volumes and that the kubelet would already have tried to start. If
 * init containers wait, returns only the first of them, because the pod has not reached the containers after it.
 */
export function containersMounting(spec: PodSpec, volumes: readonly string[]): readonly PlacedContainer[] {
  const awaitedVolumes = new Set(volumes);
  const waitingContainers = containersOf(spec).filter(({ container }) =>
    mountedVolumeNames(container).some((name) => awaitedVolumes.has(name)),
  );
  const [first] = waitingContainers;
  return first?.field === 'initContainers' ? [first] : waitingContainers;
}

/**
 * Returns every container of a pod: init containers and sidecars in spec order, then the regular and the ephemeral
 * containers. The list is cached per spec.
 */
export const containersOf = memoize((spec: PodSpec): readonly PlacedContainer[] => {
  const { initContainers = [], containers, ephemeralContainers = [] } = spec;
  return [
    ...initContainers.map((container, index) => {
      const role = isSidecar(container) ? ('sidecar' as const) : ('init' as const);
      return { container, role, field: 'initContainers' as const, index };
    }),
    ...containers.map((container, index) => {
      return { container, role: 'regular' as const, field: 'containers' as const, index };
    }),
    ...ephemeralContainers.map((container, index) => {
      return { container, role: 'ephemeral' as const, field: 'ephemeralContainers' as const, index };
    }),
  ];
});

/** Whether an earlier container of the pod uses the same image with the same pull policy. */
export function isImageUsedEarlier(spec: PodSpec, name: string): boolean {
  const container = findContainerByName(spec, name)?.container;
  const firstMatch = containersOf(spec).find(
    ({ container: { image, imagePullPolicy } }) =>
      image === container?.image && imagePullPolicy === container?.imagePullPolicy,
  );
  return firstMatch !== undefined && firstMatch.container.name !== name;
}

const containersByName = memoize(
  (spec: PodSpec): ReadonlyMap<string, PlacedContainer> =>
    new Map(containersOf(spec).map((placed) => [placed.container.name, placed])),
);

/**
 * Returns the container with this name in a pod. Uses a cached map of names, because every change to a container
 * requires a lookup of all containers.
 */
export const findContainerByName = (spec: PodSpec, name: string): PlacedContainer | undefined =>
  containersByName(spec).get(name);
