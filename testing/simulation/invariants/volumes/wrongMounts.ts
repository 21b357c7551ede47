/** Compares the mounts of a container with those that its manifest requires. */
import { posix } from 'node:path';
import type { SimulatedContainer } from '../../../../cri/simulated/objects/views.ts';
import { findContainerByName } from '../../../../kubernetes/api/pods/containers.ts';
import type { Container, VolumeMount } from '../../../../kubernetes/api/schema/container.ts';
import type { Pod, PodSpec } from '../../../../kubernetes/api/schema/pod.ts';
import type { Volume } from '../../../../kubernetes/api/schema/volume.ts';
import { PATHS, type SimulatedHost } from '../../host/host.ts';

type Mounted = SimulatedContainer['mounts'][number];

/** Directory of each kind of volume in the pod's directory, and whether the volume is a tmpfs. */
const OWN_KINDS: readonly (readonly [kind: keyof Volume, folder: string, isInMemory: (volume: Volume) => boolean])[] = [
  ['emptyDir', 'kubernetes.io~empty-dir', ({ emptyDir }) => emptyDir?.medium === 'Memory'],
  ['downwardAPI', 'kubernetes.io~downward-api', () => true],
  ['projected', 'kubernetes.io~projected', () => true],
  ['configMap', 'kubernetes.io~configmap', () => false],
  ['secret', 'kubernetes.io~secret', () => true],
];

/** The source of a mount on the host. */
interface Origin {
  readonly path: string;
  /** Type of the file system that must be mounted at the path. `bind` allows any type. */
  readonly mounted?: 'tmpfs' | 'bind';
  /** Whether the path may be missing, because nothing creates it. */
  readonly mayMiss?: boolean;
}

/** Returns the source of the whole volume, or undefined for an image volume, which the runtime mounts. */
function volumeOrigin(volume: Volume, uid: string): Origin | undefined {
  if (volume.hostPath !== undefined) return { path: volume.hostPath.path, mayMiss: !volume.hostPath.type };
  const [, folder, isInMemory] = OWN_KINDS.find(([kind]) => volume[kind] !== undefined) ?? [];
  if (folder === undefined) return undefined;
  const path = `${PATHS.root}/pods/${uid}/volumes/${folder}/${volume.name}`;
  return isInMemory?.(volume) ? { path, mounted: 'tmpfs' } : { path };
}

const exists = ({ disk, files }: SimulatedHost, { path, mounted, mayMiss = false }: Origin): boolean =>
  (mayMiss || files.existsSync(path)) &&
  (mounted === undefined ||
    disk.mounts.some((each) => each.path === path && (mounted === 'bind' || each.type === mounted)));

/** Returns the absolute mount path in the container. */
const absoluteMountPath = ({ mountPath }: VolumeMount): string => posix.resolve('/', mountPath);

/** Returns a description of what is wrong with a mount. */
function wrongWith(mount: VolumeMount, index: number, { host, spec, uid, container }: MountContext): string[] {
  const at = `its volume ${mount.name} at ${mount.mountPath}`;
  const volume = spec.volumes?.find(({ name }) => name === mount.name);
  const found = container.mounts.find(({ containerPath }) => containerPath === absoluteMountPath(mount));
  if (volume === undefined || found === undefined) return [`without ${at}`];
  if (mount.readOnly && !found.readonly) return [`with ${at} writable`];
  const origin = volumeOrigin(volume, uid);
  if (origin === undefined) {
    return found.image?.userSpecifiedImage === volume.image?.reference ? [] : [`without the image of ${at}`];
  }
  const subPathSource = `${PATHS.root}/pods/${uid}/volume-subpaths/${mount.name}/${container.containerName}/${index}`;
  const hasSubPath = Boolean(mount.subPath || mount.subPathExpr);
  const wanted: readonly Origin[] = hasSubPath ? [{ path: subPathSource, mounted: 'bind' }, origin] : [origin];
  if (found.hostPath !== wanted[0]?.path) return [`with ${found.hostPath} as ${at}`];
  return wanted.filter((each) => !exists(host, each)).map(({ path }) => `without ${at}: ${path} does not exist`);
}

interface MountContext {
  readonly host: SimulatedHost;
  readonly spec: PodSpec;
  readonly uid: string;
  readonly container: SimulatedContainer;
}

/** Whether every container has this mount, i.e. that of the hosts file or the termination log. */
const isDefaultMount = (
  { containerPath, hostPath }: Mounted,
  { terminationMessagePath }: Container,
  uid: string,
): boolean =>
  (containerPath === '/etc/hosts' || containerPath === terminationMessagePath) &&
  hostPath.startsWith(`${PATHS.root}/pods/${uid}/`);

/** Returns descriptions of what is wrong with the mounts of a container. */
export function wrongMounts(
  host: SimulatedHost,
  { spec, metadata: { uid } }: Pod,
  container: SimulatedContainer,
): string[] {
  const found = findContainerByName(spec, container.containerName)?.container;
  if (found === undefined) return [];
  const context = { host, spec, uid, container };
  const { volumeMounts = [] } = found;
  const paths = volumeMounts.map(absoluteMountPath);
  return [
    ...volumeMounts.flatMap((mount, index) => wrongWith(mount, index, context)),
    ...container.mounts
      .filter((each) => !paths.includes(each.containerPath) && !isDefaultMount(each, found, uid))
      .map(({ containerPath }) => `with an unexpected mount at ${containerPath}`),
  ];
}
