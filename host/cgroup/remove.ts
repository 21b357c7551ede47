/** Removes cgroups in whatever hierarchies the host has: v1 controllers, v2, or both at once. */
import path from 'node:path';
import { NodeFailure } from '../../base/failure.ts';
import { errorCode, isForbidden, isMissing } from '../files/fileErrors.ts';
import type { Cgroupfs } from './cgroupfs.ts';
import type { Hierarchy } from './hierarchies.ts';

/** What is done to one cgroup, wherever the host has it. */
export interface CgroupWork {
  readonly cgroupfs: Cgroupfs;
  readonly hierarchies: readonly Hierarchy[];
  /** Below each hierarchy's root: `kubepods/burstable/pod<uid>`, or a systemd slice by its name. */
  readonly path: string;
  readonly signal: AbortSignal;
  /** Waits so many milliseconds; rejects when the signal aborts. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
}

const BUSY_TRIES = 20;
const BUSY_WAIT_MS = 25;
const SLICE = '.slice';

/**
 * Removes a cgroup and all below it from every hierarchy; one that is not there is removed already. A cgroup stays
 * busy for a moment after its last process has ended: it is tried again for half a second, then it fails with
 * `FailedKillPod`.
 */
export async function removeCgroupTree(removal: CgroupWork): Promise<void> {
  const relative = relativePath(removal.path);
  await Promise.all(removal.hierarchies.map(({ root }) => removeWithRetries(path.join(root, relative), removal)));
}

async function removeWithRetries(directory: string, { cgroupfs, signal, wait }: CgroupWork): Promise<void> {
  for (let attempt = 1; !(await tryRemove(cgroupfs, directory, signal)); attempt += 1) {
    if (attempt === BUSY_TRIES) {
      throw new NodeFailure('FailedKillPod', `the cgroup ${directory} cannot be removed: it still has processes`);
    }
    await wait(BUSY_WAIT_MS, signal);
  }
}

/** Removes a cgroup with its children, the deepest first; false while it is busy. */
async function tryRemove(cgroupfs: Cgroupfs, directory: string, signal: AbortSignal): Promise<boolean> {
  signal.throwIfAborted();
  if (await removeOne(cgroupfs, directory)) return true;
  const children = await childCgroups(cgroupfs, directory);
  if (children.length === 0) return false;
  const removed = await Promise.all(children.map((child) => tryRemove(cgroupfs, child, signal)));
  return removed.every(Boolean) && (await removeOne(cgroupfs, directory));
}

async function removeOne(cgroupfs: Cgroupfs, directory: string): Promise<boolean> {
  try {
    await cgroupfs.rmdir(directory);
    return true;
  } catch (error) {
    if (isMissing(error)) return true;
    // Where nothing may be changed the kernel does not look whether there is anything to remove.
    if (isForbidden(error) && !cgroupfs.exists(directory)) return true;
    const code = errorCode(error);
    if (code === 'EBUSY' || code === 'ENOTEMPTY') return false;
    throw error;
  }
}

/** None of one that is not there; what cannot be read for another reason may well have some. */
export async function childCgroups(cgroupfs: Cgroupfs, directory: string): Promise<readonly string[]> {
  try {
    return await cgroupfs.children(directory);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/**
 * A cgroup's directories below the root of a hierarchy. Only a cgroup below a root may be named: at the root itself
 * those of others would be changed.
 */
export function relativePath(cgroup: string): string {
  const segments = cgroup.split('/').filter((part) => part !== '');
  if (segments.length === 0 || segments.some((part) => part === '.' || part === '..')) {
    const message = `${JSON.stringify(cgroup)} is not a cgroup of its own`;
    throw new NodeFailure('FailedValidation', message);
  }
  return segments.length === 1 && cgroup.endsWith(SLICE) ? slicePath(cgroup) : segments.join('/');
}

/** A slice lies in the slices that its name's dashes count: `a-b.slice` is `a.slice/a-b.slice`. */
function slicePath(slice: string): string {
  const parts = slice.slice(0, -SLICE.length).split('-');
  return parts.map((_, index) => `${parts.slice(0, index + 1).join('-')}${SLICE}`).join('/');
}
