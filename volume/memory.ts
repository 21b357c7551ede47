/** File systems in memory that volumes lie on: mounted once, and taken away with what is in them. */
import path from 'node:path';
import { NodeFailure } from '../base/failure.ts';
import { errorCode } from '../host/files/fileErrors.ts';
import type { FileSystem } from '../host/files/fileSystem.ts';
import { parseQuantity, wholeValue } from '../kubernetes/api/quantity.ts';
import { podLimit } from '../kubernetes/resources/resources.ts';
import type { VolumeMount } from './plugin.ts';

/** A file system to be mounted on a volume's directory. */
export interface Medium {
  readonly type: 'tmpfs' | 'hugetlbfs';
  readonly options: readonly string[];
}

/** What it takes to make a directory, or to mount on it. */
type MountParts = Pick<VolumeMount, 'layout' | 'mounter' | 'signal'>;

interface MakeOptions {
  readonly rights?: number;
  /** What may be mounted there where there is no medium. */
  readonly orMounted?: Medium['type'];
}

const MEDIA = ['tmpfs', 'hugetlbfs'];
const RIGHTS = 0o750;

/**
 * Makes a volume's directory, of rights 0750 or the given ones, with a file system mounted on it when there is a medium.
 * `wasThere` says that it was so before. Fails with `FailedMount` where something else is mounted.
 */
export async function makeDirectory(
  hostPath: string,
  medium: Medium | undefined,
  { layout, mounter, signal, rights = RIGHTS, orMounted }: MountParts & MakeOptions,
): Promise<{ wasThere: boolean }> {
  const { files } = layout;
  signal.throwIfAborted();
  await files.mkdir(path.dirname(hostPath), { recursive: true, mode: RIGHTS });
  const made = await makeMissing(files, hostPath, rights);
  // On a directory that was made just now nothing can be mounted.
  const mounted = made ? undefined : await mounter.mountAt(hostPath, signal);
  if (mounted !== undefined && mounted.type !== (medium?.type ?? orMounted)) {
    throw new NodeFailure('FailedMount', `${hostPath} is already a mount point of type ${mounted.type}`);
  }
  // A file in its place is told as such.
  if (!made && mounted === undefined) await files.mkdir(hostPath, { recursive: true });
  if (mounted !== undefined || medium === undefined) return { wasThere: !made };
  await mounter.mount({ source: medium.type, target: hostPath, ...medium, signal });
  return { wasThere: false };
}

/** A tmpfs as large as the volume's limit says, but no larger than the memory that the pod may use. */
export function memoryMedium({ pod, allocatable }: VolumeMount, sizeLimit?: string): Medium {
  if (sizeLimit !== undefined && parseQuantity(sizeLimit) === undefined) {
    throw new NodeFailure('FailedMount', `emptyDir sizeLimit ${sizeLimit} is not a quantity`);
  }
  const own = sizeLimit === undefined ? 0 : wholeValue(sizeLimit);
  const limits = [own, podLimit(pod.spec, 'memory') ?? 0, wholeValue(allocatable.memory ?? '0')];
  const given = limits.filter((bytes) => bytes > 0);
  return { type: 'tmpfs', options: given.length === 0 ? [] : [`size=${Math.min(...given)}`] };
}

/** Unmounts what `makeDirectory` mounted and deletes the directory; what others mounted there is left. Idempotent. */
export async function removeDirectory(hostPath: string, { layout, mounter, signal }: MountParts): Promise<void> {
  while (MEDIA.includes((await mounter.mountAt(hostPath, signal))?.type ?? '')) await mounter.unmount(hostPath, signal);
  await layout.files.removeTree(hostPath, signal);
}

/** Says whether it made the directory. What is there already is not looked at: what others mounted may not answer. */
async function makeMissing(files: FileSystem, directory: string, mode: number): Promise<boolean> {
  try {
    await files.mkdir(directory, { mode });
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  }
}
