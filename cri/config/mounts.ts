import { posix } from 'node:path';
import { NodeFailure } from '../../base/failure.ts';
import { lookUp } from '../../base/values/lookUp.ts';
import { findVolumeByName } from '../../kubernetes/api/pods/containers.ts';
import type { Container, VolumeMount } from '../../kubernetes/api/schema/container.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import {
  type EnvVariable,
  expandAll,
  expandReferences,
  usesEnvFiles,
} from '../../kubernetes/environment/environment.ts';
import { isReadOnly } from '../../kubernetes/environment/projection.ts';
import type { MountedVolume, MountedVolumes } from '../../kubernetes/mountedVolume.ts';
import { type Device, Mount, MountPropagation } from '../generated/runtime.ts';
import type { NodeDescription } from '../nodeDescription.ts';

const CONFIG_ERROR_REASON = 'CreateContainerConfigError';
const HOSTS_FILE = '/etc/hosts';

const CRI_PROPAGATIONS = {
  None: MountPropagation.PROPAGATION_PRIVATE,
  HostToContainer: MountPropagation.PROPAGATION_HOST_TO_CONTAINER,
  Bidirectional: MountPropagation.PROPAGATION_BIDIRECTIONAL,
} as const;

/** Request for a subPath of a volume. `index` is the position of the mount in the container's `volumeMounts`. */
export interface SubPathRequest {
  readonly index: number;
  readonly volume: string;
  readonly hostPath: string;
  readonly own?: true;
  readonly subPath: string;
}

export interface MountsInput {
  readonly pod: Pod;
  readonly container: Container;
  readonly environment: readonly EnvVariable[];
  readonly volumes: MountedVolumes;
  /** Host paths of the prepared subPaths, by the index of the volume mount (C26). */
  readonly subPaths?: Readonly<Record<number, string>>;
  /** Whether the runtime supports recursive read-only mounts. Defaults to false. */
  readonly recursiveReadOnlyMounts?: boolean;
  /** Host path of the termination log. Undefined if the container has none. */
  readonly terminationLog?: string;
  readonly node: NodeDescription;
}

/**
 * Returns the mounts of a container: its volumes, the pod's hosts file unless a volume mount replaces it (C18), and the
 * termination log.
 */
export function containerMounts(input: MountsInput): Mount[] {
  const { container, terminationLog, node } = input;
  const mounts = (container.volumeMounts ?? []).map((mount, index) => toCriMount(mount, index, input));
  if (!mounts.some(({ containerPath }) => containerPath === HOSTS_FILE)) {
    mounts.push(fileMount(HOSTS_FILE, `${node.podDirectory(input.pod.metadata.uid)}/etc-hosts`));
  }
  const { terminationMessagePath } = container;
  if (terminationLog && terminationMessagePath)
    mounts.push(fileMount(absolutePath(terminationMessagePath), terminationLog));
  return mounts;
}

/**
 * Returns the subPaths that must exist before the container is created. Throws if a subPath points outside its volume
 * (C26).
 */
export function listSubPaths(input: Pick<MountsInput, 'container' | 'environment' | 'volumes'>): SubPathRequest[] {
  const { container, environment, volumes } = input;
  return (container.volumeMounts ?? []).flatMap((mount, index) => {
    const subPath = resolveSubPath(mount, { container, environment });
    if (subPath === '') return [];
    const mountedVolume = findMountedVolume(mount, volumes);
    // Skip a subPath in an image volume, because the runtime resolves it.
    if (mountedVolume.kind !== 'path') return [];
    const { kind: _, ...location } = mountedVolume;
    return [{ index, volume: mount.name, ...location, subPath }];
  });
}

/** Returns the path within the volume that a mount exposes, or an empty string for the whole volume. */
function resolveSubPath(mount: VolumeMount, input: Pick<MountsInput, 'container' | 'environment'>): string {
  const path = mount.subPath || expandSubPathExpr(mount, input);
  if (path === '') return '';
  if (path.startsWith('/')) throw mountFailure(mount, `subPath ${path} must not be an absolute path`);
  if (path.split('/').includes('..')) throw mountFailure(mount, `subPath ${path} must not contain ".."`);
  return posix.normalize(path);
}

/** Returns the block devices of a container, i.e. its volumes with volumeMode Block. */
export function containerDevices({ container, volumes }: Pick<MountsInput, 'container' | 'volumes'>): Device[] {
  return (container.volumeDevices ?? []).map(({ name, devicePath }) => {
    const mountedVolume = lookUp(volumes, name);
    if (mountedVolume?.kind === 'device') {
      return {
        containerPath: devicePath,
        hostPath: mountedVolume.hostPath,
        permissions: mountedVolume.readOnly ? 'r' : 'mrw',
      };
    }
    const message = `cannot find volume "${name}" to pass into container "${container.name}"`;
    throw new NodeFailure(CONFIG_ERROR_REASON, message);
  });
}

/** Returns the mounted volume that a volume mount refers to. */
function findMountedVolume(mount: VolumeMount, volumes: MountedVolumes): Exclude<MountedVolume, { kind: 'device' }> {
  const mountedVolume = lookUp(volumes, mount.name);
  if (mountedVolume !== undefined && mountedVolume.kind !== 'device') return mountedVolume;
  throw mountFailure(mount, `cannot find volume "${mount.name}" to mount into the container`);
}

function mountFailure(mount: VolumeMount, message: string): NodeFailure {
  return new NodeFailure(CONFIG_ERROR_REASON, `volumeMount ${mount.mountPath}: ${message}`);
}

/**
 * Returns the CRI mount for a volume mount. The runtime relabels the contents for the container's SELinux label, unless
 * the path belongs to the host (see the attributes `Managed` and `SELinuxRelabel` of the plugins in `pkg/volume`). A
 * pod's `seLinuxChangePolicy` has no effect, because only volume types that the node does not support could be mounted
 * with a label.
 */
function toCriMount(mount: VolumeMount, index: number, input: MountsInput): Mount {
  const volume = findVolumeByName(input.pod.spec, mount.name);
  const mountedVolume = findMountedVolume(mount, input.volumes);
  return Mount.fromPartial({
    containerPath: absolutePath(mount.mountPath),
    ...(mountedVolume.kind === 'path'
      ? { hostPath: mountHostPath(mount, index, { volumePath: mountedVolume.hostPath, ...input }) }
      : {
          // The runtime mounts the image itself.
          image: { image: mountedVolume.imageRef, userSpecifiedImage: volume?.image?.reference ?? '' },
          imageSubPath: resolveSubPath(mount, input),
        }),
    readonly: mount.readOnly || (volume !== undefined && isReadOnly(volume)),
    propagation: CRI_PROPAGATIONS[mount.mountPropagation ?? 'None'],
    selinuxRelabel: mountedVolume.kind === 'image' || mountedVolume.own === true,
    recursiveReadOnly: isRecursivelyReadOnly(mount, input),
  });
}

function mountHostPath(
  mount: VolumeMount,
  index: number,
  { volumePath, subPaths = {} }: { readonly volumePath: string } & Pick<MountsInput, 'subPaths'>,
): string {
  if (!mount.subPath && !mount.subPathExpr) return volumePath;
  const path = subPaths[index];
  if (path === undefined) throw mountFailure(mount, 'its subPath was not prepared');
  return path;
}

/**
 * Whether the mount is recursively read-only. Throws if the runtime does not support recursive read-only mounts,
 * because such a runtime ignores the field and would leave submounts writable.
 */
function isRecursivelyReadOnly(mount: VolumeMount, { recursiveReadOnlyMounts = false }: MountsInput): boolean {
  const mode = mount.readOnly ? (mount.recursiveReadOnly ?? 'Disabled') : 'Disabled';
  if (mode === 'Enabled' && !recursiveReadOnlyMounts) {
    const message = `volume "${mount.name}" requested recursive read-only mode, but it is not supported by the runtime`;
    throw mountFailure(mount, message);
  }
  return mode !== 'Disabled' && recursiveReadOnlyMounts;
}

/**
 * Expands a subPathExpr. Throws on an unknown variable, because the unexpanded expression would name a different
 * directory.
 */
function expandSubPathExpr(
  mount: VolumeMount,
  { container, environment }: Pick<MountsInput, 'container' | 'environment'>,
): string {
  const variables = new Map(environment.map(({ name, value }) => [name, value]));
  const expression = mount.subPathExpr ?? '';
  expandReferences(expression, (name) => {
    if (!variables.has(name)) throw mountFailure(mount, `subPathExpr: missing value for "${name}"`);
    return '';
  });
  const field = `volumeMount "${mount.name}": subPathExpr`;
  const [expanded = ''] = expandAll([expression], variables, field, !usesEnvFiles(container));
  return expanded;
}

function fileMount(containerPath: string, hostPath: string): Mount {
  return Mount.fromPartial({ containerPath, hostPath });
}

function absolutePath(path: string): string {
  return posix.resolve('/', path);
}
