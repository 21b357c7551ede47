import { posix } from 'node:path';
import { type EnvEntry, expand } from '../pod/environment.ts';
import { NodeFailure } from '../pod/failure.ts';
import type { Container, VolumeMount } from '../pod/schema/container.ts';
import { Mount, MountPropagation } from './generated/runtime.ts';
import type { NodeFacts } from './nodeFacts.ts';

const HOSTS_FILE = '/etc/hosts';

const PROPAGATIONS = {
  None: MountPropagation.PROPAGATION_PRIVATE,
  HostToContainer: MountPropagation.PROPAGATION_HOST_TO_CONTAINER,
  Bidirectional: MountPropagation.PROPAGATION_BIDIRECTIONAL,
} as const;

export interface MountsInput {
  readonly podUid: string;
  readonly container: Container;
  readonly environment: readonly EnvEntry[];
  /** Host paths by volume name. */
  readonly volumes: Readonly<Record<string, string>>;
  /** The file of the host that takes the container's last words; absent: none. */
  readonly terminationLog?: string;
  readonly node: NodeFacts;
}

/** What a container has mounted: its volumes, the pod's hosts file unless it mounts one itself (C18), its last words. */
export function containerMounts(input: MountsInput): Mount[] {
  const { container, terminationLog, node } = input;
  const mounts = (container.volumeMounts ?? []).map((mount) => volumeMount(mount, input));
  if (!mounts.some(({ containerPath }) => containerPath === HOSTS_FILE)) {
    mounts.push(file(HOSTS_FILE, `${node.podDirectory(input.podUid)}/etc-hosts`));
  }
  const { terminationMessagePath } = container;
  if (terminationLog && terminationMessagePath) mounts.push(file(absolute(terminationMessagePath), terminationLog));
  return mounts;
}

/** The directory within a volume that a mount shows; empty for the volume itself. Refuses what leads outside (C26). */
export function subPathOf(mount: VolumeMount, environment: readonly EnvEntry[]): string {
  const path = mount.subPath || expandStrictly(mount, environment);
  if (path === '') return '';
  if (path.startsWith('/')) throw refusal(mount, `subPath ${path} must not be an absolute path`);
  if (path.split('/').includes('..')) throw refusal(mount, `subPath ${path} must not contain ".."`);
  return posix.normalize(path);
}

/** The host's path of the volume that a mount names. */
export function volumePath(mount: VolumeMount, volumes: Readonly<Record<string, string>>): string {
  const path = Object.hasOwn(volumes, mount.name) ? volumes[mount.name] : undefined;
  if (path === undefined) throw refusal(mount, `cannot find volume "${mount.name}" to mount into the container`);
  return path;
}

/** The refusal of a mount that cannot be made as its container asks. */
export function refusal(mount: VolumeMount, message: string, cause?: unknown): NodeFailure {
  return new NodeFailure('CreateContainerConfigError', `volumeMount ${mount.mountPath}: ${message}`, { cause });
}

function volumeMount(mount: VolumeMount, { volumes, environment, node }: MountsInput): Mount {
  const hostPath = posix.join(volumePath(mount, volumes), subPathOf(mount, environment));
  return Mount.fromPartial({
    containerPath: absolute(mount.mountPath),
    hostPath,
    readonly: mount.readOnly ?? false,
    propagation: PROPAGATIONS[mount.mountPropagation ?? 'None'],
    recursiveReadOnly: recursivelyReadOnly(mount, node),
  });
}

/** A runtime that does not know the field would silently mount the rest writable. */
function recursivelyReadOnly(mount: VolumeMount, { recursiveReadOnlyMounts = false }: NodeFacts): boolean {
  const wanted = mount.readOnly ? (mount.recursiveReadOnly ?? 'Disabled') : 'Disabled';
  if (wanted === 'Enabled' && !recursiveReadOnlyMounts) {
    throw refusal(mount, 'the runtime does not support recursive read-only mounts');
  }
  return wanted !== 'Disabled' && recursiveReadOnlyMounts;
}

/** A variable that is not there would make another directory of it. */
function expandStrictly(mount: VolumeMount, environment: readonly EnvEntry[]): string {
  const values = new Map(environment.map(({ name, value }) => [name, value]));
  return expand(mount.subPathExpr ?? '', (name) => {
    const value = values.get(name);
    if (value === undefined) throw refusal(mount, `subPathExpr: missing value for "${name}"`);
    return value;
  });
}

function file(containerPath: string, hostPath: string): Mount {
  return Mount.fromPartial({ containerPath, hostPath });
}

function absolute(path: string): string {
  return posix.resolve('/', path);
}
