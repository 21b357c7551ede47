import { posix } from 'node:path';
import { NodeFailure } from '../base/failure.ts';
import { lookUp } from '../base/lookUp.ts';
import type { Container, VolumeMount } from '../kubernetes/api/schema/container.ts';
import type { Pod } from '../kubernetes/api/schema/pod.ts';
import { type EnvEntry, expand, expandAll } from '../kubernetes/environment/environment.ts';
import { isReadOnly } from '../kubernetes/environment/projection.ts';
import type { MountedVolume, MountedVolumes } from '../kubernetes/mountedVolume.ts';
import { type Device, Mount, MountPropagation } from './generated/runtime.ts';
import type { NodeDescription } from './nodeDescription.ts';

const CONFIG_ERROR = 'CreateContainerConfigError';
const HOSTS_FILE = '/etc/hosts';

const PROPAGATIONS = {
  None: MountPropagation.PROPAGATION_PRIVATE,
  HostToContainer: MountPropagation.PROPAGATION_HOST_TO_CONTAINER,
  Bidirectional: MountPropagation.PROPAGATION_BIDIRECTIONAL,
} as const;

/** A part of a volume that a container mounts; `index` is that of the mount. */
export interface WantedSubPath {
  readonly index: number;
  readonly volume: string;
  readonly hostPath: string;
  readonly own?: true;
  readonly subPath: string;
}

export interface MountsInput {
  readonly pod: Pod;
  readonly container: Container;
  readonly environment: readonly EnvEntry[];
  readonly volumes: MountedVolumes;
  /** Where the mounts with a subPath find theirs, by the mount's index (C26). */
  readonly subPaths?: Readonly<Record<number, string>>;
  /** Whether the runtime can make mounts read-only with all that is mounted in them; absent: it can not. */
  readonly recursiveReadOnlyMounts?: boolean;
  /** The file of the host that takes the container's last words; absent: none. */
  readonly terminationLog?: string;
  readonly node: NodeDescription;
}

/** What a container has mounted: its volumes, the pod's hosts file unless it mounts one itself (C18), its last words. */
export function containerMounts(input: MountsInput): Mount[] {
  const { container, terminationLog, node } = input;
  const mounts = (container.volumeMounts ?? []).map((mount, index) => volumeMount(mount, index, input));
  if (!mounts.some(({ containerPath }) => containerPath === HOSTS_FILE)) {
    mounts.push(file(HOSTS_FILE, `${node.podDirectory(input.pod.metadata.uid)}/etc-hosts`));
  }
  const { terminationMessagePath } = container;
  if (terminationLog && terminationMessagePath) mounts.push(file(absolute(terminationMessagePath), terminationLog));
  return mounts;
}

/** The parts of volumes that a container mounts, which must be there before it is made. Refuses what leads outside (C26). */
export function subPathsOf(input: Pick<MountsInput, 'container' | 'environment' | 'volumes'>): WantedSubPath[] {
  const { container, environment, volumes } = input;
  return (container.volumeMounts ?? []).flatMap((mount, index) => {
    const subPath = subPathOf(mount, environment);
    if (subPath === '') return [];
    const mounted = mountedVolume(mount, volumes);
    // Within an image only the runtime can look.
    if (mounted.kind !== 'path') return [];
    const { kind: _, ...place } = mounted;
    return [{ index, volume: mount.name, ...place, subPath }];
  });
}

/** The directory within a volume that a mount shows; empty for the volume itself. */
function subPathOf(mount: VolumeMount, environment: readonly EnvEntry[]): string {
  const path = mount.subPath || expandStrictly(mount, environment);
  if (path === '') return '';
  if (path.startsWith('/')) throw refusal(mount, `subPath ${path} must not be an absolute path`);
  if (path.split('/').includes('..')) throw refusal(mount, `subPath ${path} must not contain ".."`);
  return posix.normalize(path);
}

/** The block devices that a container has: volumes that it uses without a file system. */
export function containerDevices({ container, volumes }: Pick<MountsInput, 'container' | 'volumes'>): Device[] {
  return (container.volumeDevices ?? []).map(({ name, devicePath }) => {
    const mounted = lookUp(volumes, name);
    if (mounted?.kind === 'device') {
      return { containerPath: devicePath, hostPath: mounted.hostPath, permissions: mounted.readOnly ? 'r' : 'mrw' };
    }
    const message = `cannot find volume "${name}" to pass into container "${container.name}"`;
    throw new NodeFailure(CONFIG_ERROR, message);
  });
}

/** What the volume that a mount names has for it. */
function mountedVolume(mount: VolumeMount, volumes: MountedVolumes): Exclude<MountedVolume, { kind: 'device' }> {
  const mounted = lookUp(volumes, mount.name);
  if (mounted !== undefined && mounted.kind !== 'device') return mounted;
  throw refusal(mount, `cannot find volume "${mount.name}" to mount into the container`);
}

/** The refusal of a mount that cannot be made as its container asks. */
function refusal(mount: VolumeMount, message: string): NodeFailure {
  return new NodeFailure(CONFIG_ERROR, `volumeMount ${mount.mountPath}: ${message}`);
}

/**
 * One mount of a volume. The runtime relabels the content for the container's SELinux label, unless it is a path that
 * belongs to the host (`Managed` and `SELinuxRelabel` in the attributes of the plugins in `pkg/volume`). A pod's
 * `seLinuxChangePolicy` makes no difference to that, because only volume types that the node does not support can be mounted
 * with a label.
 */
function volumeMount(mount: VolumeMount, index: number, input: MountsInput): Mount {
  const volume = input.pod.spec.volumes?.find(({ name }) => name === mount.name);
  const mounted = mountedVolume(mount, input.volumes);
  return Mount.fromPartial({
    containerPath: absolute(mount.mountPath),
    ...(mounted.kind === 'path'
      ? { hostPath: hostPathOf(mount, index, { whole: mounted.hostPath, ...input }) }
      : {
          // The runtime itself mounts the content of an image.
          image: { image: mounted.imageRef, userSpecifiedImage: volume?.image?.reference ?? '' },
          imageSubPath: subPathOf(mount, input.environment),
        }),
    readonly: mount.readOnly || (volume !== undefined && isReadOnly(volume)),
    propagation: PROPAGATIONS[mount.mountPropagation ?? 'None'],
    selinuxRelabel: mounted.kind === 'image' || mounted.own === true,
    recursiveReadOnly: recursivelyReadOnly(mount, input),
  });
}

function hostPathOf(
  mount: VolumeMount,
  index: number,
  { whole, subPaths = {} }: { readonly whole: string } & Pick<MountsInput, 'subPaths'>,
): string {
  if (!mount.subPath && !mount.subPathExpr) return whole;
  const path = subPaths[index];
  if (path === undefined) throw refusal(mount, 'its subPath was not prepared');
  return path;
}

/** A runtime that does not know the field would silently mount the rest writable. */
function recursivelyReadOnly(mount: VolumeMount, { recursiveReadOnlyMounts = false }: MountsInput): boolean {
  const wanted = mount.readOnly ? (mount.recursiveReadOnly ?? 'Disabled') : 'Disabled';
  if (wanted === 'Enabled' && !recursiveReadOnlyMounts) {
    const message = `volume "${mount.name}" requested recursive read-only mode, but it is not supported by the runtime`;
    throw refusal(mount, message);
  }
  return wanted !== 'Disabled' && recursiveReadOnlyMounts;
}

/** Expands a subPathExpr. An unknown variable is an error, because leaving it as written would name a different directory. */
function expandStrictly(mount: VolumeMount, environment: readonly EnvEntry[]): string {
  const values = new Map(environment.map(({ name, value }) => [name, value]));
  const text = mount.subPathExpr ?? '';
  expand(text, (name) => {
    if (!values.has(name)) throw refusal(mount, `subPathExpr: missing value for "${name}"`);
    return '';
  });
  const [expanded = ''] = expandAll([text], values, `volumeMount "${mount.name}": subPathExpr`);
  return expanded;
}

function file(containerPath: string, hostPath: string): Mount {
  return Mount.fromPartial({ containerPath, hostPath });
}

function absolute(path: string): string {
  return posix.resolve('/', path);
}
