import { remembered } from '../../base/remembered.ts';
import type { MountedVolumes } from '../mountedVolume.ts';
import type { ContainerRole, VolumeView } from '../status/view.ts';
import type { Container } from './schema/container.ts';
import type { PodSpec } from './schema/pod.ts';

/** A container with its role and its place: `spec.<field>[<index>]`. */
export interface PlacedContainer {
  readonly container: Container;
  readonly role: ContainerRole;
  readonly field: 'initContainers' | 'containers' | 'ephemeralContainers';
  readonly index: number;
}

/** An init container that stays beside the others (C4): its own restartPolicy is Always. */
export function isSidecar(init: Container): boolean {
  return init.restartPolicy === 'Always';
}

/** The names of the volumes that a container mounts. */
const mountedBy = ({ volumeMounts = [] }: Container): string[] => volumeMounts.map(({ name }) => name);

/** What is wrong with the volumes that a container mounts: as with a kubelet the last one counts (C16). */
export function waitingReasonOfVolumes(
  volumes: readonly VolumeView[],
  container: Container,
): VolumeView['waitingReason'] {
  const mounted = new Set(mountedBy(container));
  return volumes.findLast(({ name, waitingReason }) => waitingReason !== undefined && mounted.has(name))?.waitingReason;
}

const volumeNames = remembered((spec: PodSpec): ReadonlySet<string> => new Set(spec.volumes?.map(({ name }) => name)));

/** Whether a container mounts a volume of its pod that is not among these, which are those that are there. */
export const lacksVolume = (spec: PodSpec, container: Container, there: MountedVolumes): boolean =>
  mountedBy(container).some((name) => volumeNames(spec).has(name) && !Object.hasOwn(there, name));

/**
 * The containers that a kubelet would have got to by now and that wait for one of these volumes: the first init container
 * that mounts any of them, as nobody after it is begun with, or else all that do.
 */
export function containersMounting(spec: PodSpec, volumes: readonly string[]): readonly PlacedContainer[] {
  const awaited = new Set(volumes);
  const held = containersOf(spec).filter(({ container }) => mountedBy(container).some((name) => awaited.has(name)));
  const [first] = held;
  return first?.field === 'initContainers' ? [first] : held;
}

/** Every container of a pod: init containers and sidecars in their order, the regular, the ephemeral; made once a spec. */
export const containersOf = remembered((spec: PodSpec): readonly PlacedContainer[] => {
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

/** Whether a container wants the image of one before it, and pulls it by the same policy. */
export function isAfterSameImage(spec: PodSpec, name: string): boolean {
  const own = containerNamed(spec, name)?.container;
  const first = containersOf(spec).find(
    ({ container: { image, imagePullPolicy } }) => image === own?.image && imagePullPolicy === own?.imagePullPolicy,
  );
  return first !== undefined && first.container.name !== name;
}

const byName = remembered(
  (spec: PodSpec): ReadonlyMap<string, PlacedContainer> =>
    new Map(containersOf(spec).map((placed) => [placed.container.name, placed])),
);

/** A container of a pod by its name: all of them are asked for at each change of one, so that none is looked for among all. */
export const containerNamed = (spec: PodSpec, name: string): PlacedContainer | undefined => byName(spec).get(name);
