/** Removes cgroups in all hierarchies. */
import path from 'node:path';
import { NodeFailure } from '../../base/failure.ts';
import { errorCode, isForbidden, isMissing } from '../files/fileErrors.ts';
import type { Cgroupfs } from './cgroupfs.ts';
import type { Hierarchy } from './hierarchies.ts';

/** Parameters of an operation on one cgroup. */
export interface CgroupOperation {
  readonly cgroupfs: Cgroupfs;
  readonly hierarchies: readonly Hierarchy[];
  /**
   * Path relative to the root of each hierarchy, e.g. `kubepods/burstable/pod<uid>`, or the name of a systemd slice.
   */
  readonly path: string;
  readonly signal: AbortSignal;
  /** Waits for the given number of milliseconds. Rejects if the signal aborts. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
}

const MAX_ATTEMPTS = 20;
const RETRY_DELAY_MS = 25;
const SLICE_SUFFIX = '.slice';

/**
 * Removes a cgroup and its descendants from every hierarchy. Succeeds if it does not exist. A cgroup stays busy for a
 * moment after its last process has exited, so the removal is retried for half a second before it fails with
 * `FailedKillPod`.
 */
export async function removeCgroupTree(removal: CgroupOperation): Promise<void> {
  const relativeCgroup = relativePath(removal.path);
  await Promise.all(removal.hierarchies.map(({ root }) => removeWithRetries(path.join(root, relativeCgroup), removal)));
}

async function removeWithRetries(directory: string, { cgroupfs, signal, wait }: CgroupOperation): Promise<void> {
  for (let attempt = 1; !(await tryRemove(cgroupfs, directory, signal)); attempt += 1) {
    if (attempt === MAX_ATTEMPTS) {
      throw new NodeFailure('FailedKillPod', `the cgroup ${directory} cannot be removed: it still has processes`);
    }
    await wait(RETRY_DELAY_MS, signal);
  }
}

/** Removes a cgroup and its descendants. Returns false if it is busy. */
async function tryRemove(cgroupfs: Cgroupfs, directory: string, signal: AbortSignal): Promise<boolean> {
  signal.throwIfAborted();
  if (await removeDirectory(cgroupfs, directory)) return true;
  const children = await listChildCgroups(cgroupfs, directory);
  if (children.length === 0) return false;
  const removedChildren = await Promise.all(children.map((child) => tryRemove(cgroupfs, child, signal)));
  return removedChildren.every(Boolean) && (await removeDirectory(cgroupfs, directory));
}

async function removeDirectory(cgroupfs: Cgroupfs, directory: string): Promise<boolean> {
  try {
    await cgroupfs.rmdir(directory);
    return true;
  } catch (error) {
    if (isMissing(error)) return true;
    // On a read-only file system, the kernel returns EROFS even if the cgroup does not exist.
    if (isForbidden(error) && !cgroupfs.exists(directory)) return true;
    const code = errorCode(error);
    if (code === 'EBUSY' || code === 'ENOTEMPTY') return false;
    throw error;
  }
}

/**
 * Returns the children of a cgroup, or an empty list if it does not exist. Throws if they cannot be read for any other
 * reason.
 */
export async function listChildCgroups(cgroupfs: Cgroupfs, directory: string): Promise<readonly string[]> {
  try {
    return await cgroupfs.children(directory);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/**
 * Converts a cgroup's name to its path relative to a hierarchy's root. Throws for the root itself, because an operation
 * on it would affect the cgroups of other software.
 */
export function relativePath(cgroup: string): string {
  const segments = cgroup.split('/').filter((segment) => segment !== '');
  if (segments.length === 0 || segments.some((segment) => segment === '.' || segment === '..')) {
    const message = `${JSON.stringify(cgroup)} is not a cgroup of its own`;
    throw new NodeFailure('FailedValidation', message);
  }
  return segments.length === 1 && cgroup.endsWith(SLICE_SUFFIX) ? slicePath(cgroup) : segments.join('/');
}

/**
 * Converts the name of a slice to its path, which follows from the dashes. For example, the path of `a-b.slice` is
 * `a.slice/a-b.slice`.
 */
function slicePath(slice: string): string {
  const segments = slice.slice(0, -SLICE_SUFFIX.length).split('-');
  return segments.map((_, index) => `${segments.slice(0, index + 1).join('-')}${SLICE_SUFFIX}`).join('/');
}
