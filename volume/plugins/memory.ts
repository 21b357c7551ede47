/** Creates and removes the directories of volumes, optionally with a memory-backed file system mounted on them. */
import path from 'node:path';
import { NodeFailure } from '../../base/failure.ts';
import { errorCode } from '../../host/files/fileErrors.ts';
import type { FileSystem } from '../../host/files/fileSystem.ts';
import { parseQuantity, wholeValue } from '../../kubernetes/api/values/quantity.ts';
import { podLimit } from '../../kubernetes/resources/resources.ts';
import type { VolumeMount } from './plugin.ts';

/** A file system to mount on a volume's directory. */
export interface Medium {
  readonly type: 'tmpfs' | 'hugetlbfs';
  readonly options: readonly string[];
}

/** Dependencies for creating and mounting directories. */
type MountServices = Pick<VolumeMount, 'layout' | 'mounter' | 'signal'>;

interface CreateOptions {
  readonly mode?: number;
  /** Type of file system that may already be mounted even though no medium is requested. */
  readonly allowedMount?: Medium['type'];
}

const MEDIUM_TYPES = ['tmpfs', 'hugetlbfs'];
const DEFAULT_MODE = 0o750;

/**
 * Creates a volume's directory, by default with mode 0750, and mounts the medium on it if there is one. Returns whether
 * the directory and the mount already existed. Fails with `FailedMount` if a file system of a different type is mounted
 * there.
 */
export async function createVolumeDirectory(
  hostPath: string,
  medium: Medium | undefined,
  { layout, mounter, signal, mode = DEFAULT_MODE, allowedMount }: MountServices & CreateOptions,
): Promise<{ existed: boolean }> {
  const { files } = layout;
  signal.throwIfAborted();
  await files.mkdir(path.dirname(hostPath), { recursive: true, mode: DEFAULT_MODE });
  const wasCreated = await createIfMissing(files, hostPath, mode);
  // Do not look for a mount on a directory that was just created, because nothing can be mounted on it yet.
  const existingMount = wasCreated ? undefined : await mounter.mountAt(hostPath, signal);
  if (existingMount !== undefined && existingMount.type !== (medium?.type ?? allowedMount)) {
    throw new NodeFailure('FailedMount', `${hostPath} is already a mount point of type ${existingMount.type}`);
  }
  // Call `mkdir` for an existing path as well, because it fails if the path is a file.
  if (!wasCreated && existingMount === undefined) await files.mkdir(hostPath, { recursive: true });
  if (existingMount !== undefined || medium === undefined) return { existed: !wasCreated };
  await mounter.mount({ source: medium.type, target: hostPath, ...medium, signal });
  return { existed: false };
}

/**
 * Returns a tmpfs whose size is the smallest of the volume's limit, the pod's memory limit and the node's allocatable
 * memory. If the host supports it, the contents are never swapped to disk.
 */
export function memoryMedium({ pod, allocatable, tmpfsNoswap }: VolumeMount, sizeLimit?: string): Medium {
  if (sizeLimit !== undefined && parseQuantity(sizeLimit) === undefined) {
    throw new NodeFailure('FailedMount', `emptyDir sizeLimit ${sizeLimit} is not a quantity`);
  }
  const volumeLimit = sizeLimit === undefined ? 0 : wholeValue(sizeLimit);
  const sizeLimits = [volumeLimit, podLimit(pod.spec, 'memory') ?? 0, wholeValue(allocatable.memory ?? '0')];
  const positiveLimits = sizeLimits.filter((bytes) => bytes > 0);
  const sizeOptions = positiveLimits.length === 0 ? [] : [`size=${Math.min(...positiveLimits)}`];
  return { type: 'tmpfs', options: [...sizeOptions, ...(tmpfsNoswap ? ['noswap'] : [])] };
}

/**
 * Unmounts the medium that `createVolumeDirectory` mounted and deletes the directory. Leaves mounts of other types in
 * place. Idempotent.
 */
export async function removeVolumeDirectory(
  hostPath: string,
  { layout, mounter, signal }: MountServices,
): Promise<void> {
  while (MEDIUM_TYPES.includes((await mounter.mountAt(hostPath, signal))?.type ?? ''))
    await mounter.unmount(hostPath, signal);
  await layout.files.removeTree(hostPath, signal);
}

/**
 * Creates a directory and returns true, or returns false if it already exists. Does not access an existing directory,
 * because a foreign mount on it may hang.
 */
async function createIfMissing(files: FileSystem, directory: string, mode: number): Promise<boolean> {
  try {
    await files.mkdir(directory, { mode });
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  }
}
