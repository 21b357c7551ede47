/** Creates cgroup directories and writes limits in all hierarchies. */
import { dirname, join } from 'node:path';
import { settleAll } from '../../base/async/settleAll.ts';
import { type CgroupFile, type Controller, cgroupFiles } from '../../kubernetes/resources/cgroupFiles.ts';
import type { CgroupLimits } from '../../kubernetes/resources/cgroupLimits.ts';
import type { Cgroupfs } from './cgroupfs.ts';
import { findHierarchy, type Hierarchy } from './hierarchies.ts';

/** A cgroup, which exists in each hierarchy. */
export interface Cgroup {
  readonly cgroupfs: Cgroupfs;
  readonly hierarchies: readonly Hierarchy[];
  /** Path relative to the root of each hierarchy, e.g. `kubepods.slice/kubepods-burstable.slice`. */
  readonly path: string;
}

const USED_CONTROLLERS: readonly Controller[] = ['cpu', 'memory', 'pids', 'hugetlb'];

export function hasCgroup({ cgroupfs, hierarchies, path }: Cgroup): boolean {
  const root = findHierarchy(hierarchies, 'cpu')?.root ?? hierarchies[0]?.root;
  return root !== undefined && cgroupfs.exists(join(root, path));
}

/**
 * Creates the directory of a cgroup in the hierarchies whose controllers the agent uses. On v2, enables the controllers
 * in all ancestors that the agent may change.
 */
export async function createCgroup(cgroup: Cgroup, mayChange: (path: string) => boolean): Promise<void> {
  const { cgroupfs, hierarchies, path } = cgroup;
  const usedHierarchies = new Set(
    USED_CONTROLLERS.flatMap((controller) => findHierarchy(hierarchies, controller) ?? []),
  );
  await settleAll(
    Array.from(usedHierarchies, async (hierarchy) => {
      if (hierarchy.version === 'v2') await enableControllers(cgroupfs, hierarchy, { path: dirname(path), mayChange });
      const directory = join(hierarchy.root, path);
      if (!cgroupfs.exists(directory)) await cgroupfs.mkdir(directory);
    }),
  );
}

/** Enables controllers for the children of a v2 cgroup, after enabling them in its ancestors. */
async function enableControllers(
  cgroupfs: Cgroupfs,
  hierarchy: Hierarchy,
  { path, mayChange }: { readonly path: string; readonly mayChange: (path: string) => boolean },
): Promise<void> {
  if (!mayChange(path)) return;
  const directory = join(hierarchy.root, path);
  const file = join(directory, 'cgroup.subtree_control');
  const enabledControllers = readWords(cgroupfs, file) ?? [];
  const isRequired = (controller: string) =>
    hierarchy.controllers.includes(controller) && !enabledControllers.includes(controller);
  const requiredControllers = ['cpuset', ...USED_CONTROLLERS].filter(isRequired);
  if (requiredControllers.length === 0) return;
  if (path !== '.') await enableControllers(cgroupfs, hierarchy, { path: dirname(path), mayChange });
  await cgroupfs.mkdir(directory);
  // Enable only available controllers, because a parent that must not be changed may not provide all of them.
  const availableControllers = readWords(cgroupfs, join(directory, 'cgroup.controllers')) ?? requiredControllers;
  const controllersToEnable = requiredControllers.filter((controller) => availableControllers.includes(controller));
  if (controllersToEnable.length > 0)
    await cgroupfs.write(file, controllersToEnable.map((controller) => `+${controller}`).join(' '));
}

/** Returns the controllers that the limits require but that are not available in a v2 cgroup. */
export function findMissingControllers(cgroup: Cgroup, limits: CgroupLimits): Controller[] {
  const { cgroupfs, hierarchies, path } = cgroup;
  const requiredFiles = cgroupFiles(limits, (controller) => findHierarchy(hierarchies, controller)?.version);
  const isUnavailable = (controller: Controller) => {
    const hierarchy = findHierarchy(hierarchies, controller);
    if (hierarchy?.version !== 'v2') return false;
    return readWords(cgroupfs, join(hierarchy.root, path, 'cgroup.controllers'))?.includes(controller) === false;
  };
  return [...new Set(requiredFiles.map(({ controller }) => controller))].filter(isUnavailable);
}

/** Returns the message for a cgroup without all required controllers. */
export const describeMissingControllers = (cgroup: string, controllers: string): string =>
  `${cgroup} lacks the controllers ${controllers}, as its parent cgroup does not delegate them: limits that need them are not enforced`;

const readWords = (cgroupfs: Cgroupfs, file: string): string[] | undefined => cgroupfs.read(file)?.trim().split(/\s+/);

/** Writes the limits of an existing cgroup. */
export async function writeLimits(cgroup: Cgroup, limits: CgroupLimits): Promise<void> {
  await forEachFile(cgroup, limits, (file) => writeFile(cgroup, file));
}

/**
 * Writes only the limits that are higher than the current ones, so that the limits of child cgroups can be raised
 * afterwards.
 */
export async function raiseLimits(cgroup: Cgroup, limits: CgroupLimits): Promise<void> {
  await forEachFile(cgroup, limits, async (file) => {
    if (isHigher(cgroup, file)) await writeFile(cgroup, file);
  });
}

/** Returns only the limits that are higher than the current ones. */
export function higherLimits(cgroup: Cgroup, limits: CgroupLimits): CgroupLimits {
  const isAnyHigher = (limit: CgroupLimits) =>
    cgroupFiles(limit, (controller) => findHierarchy(cgroup.hierarchies, controller)?.version).some((file) =>
      isHigher(cgroup, file),
    );
  return Object.fromEntries(Object.entries(limits).filter(([name, value]) => isAnyHigher({ [name]: value })));
}

function isHigher(cgroup: Cgroup, file: CgroupFile): boolean {
  const currentValue = cgroup.cgroupfs.read(cgroupFilePath(cgroup, file));
  return currentValue !== undefined && parseLimit(file.value) > parseLimit(currentValue);
}

/**
 * Whether the existing files of a cgroup contain the limits. A huge page limit may be higher in the file, because the
 * kernel rounds large values.
 */
export function hasLimits(cgroup: Cgroup, limits: CgroupLimits): boolean {
  const files = cgroupFiles(limits, (controller) => findHierarchy(cgroup.hierarchies, controller)?.version);
  return files.every((file) => {
    const currentValue = cgroup.cgroupfs.read(cgroupFilePath(cgroup, file));
    if (currentValue === undefined) return true;
    const [current, expected] = [parseLimit(currentValue), parseLimit(file.value)];
    return file.controller === 'hugetlb' ? current >= expected : current === expected;
  });
}

/**
 * Processes the controllers concurrently and the files of one controller sequentially, because some of these files
 * depend on others.
 */
async function forEachFile(
  { hierarchies }: Cgroup,
  limits: CgroupLimits,
  processFile: (file: CgroupFile) => Promise<void>,
): Promise<void> {
  const files = cgroupFiles(limits, (controller) => findHierarchy(hierarchies, controller)?.version);
  const processSequentially = async (controllerFiles: readonly CgroupFile[]) => {
    for (const file of controllerFiles) await processFile(file);
  };
  await settleAll([...Map.groupBy(files, ({ controller }) => controller).values()].map(processSequentially));
}

const cgroupFilePath = ({ hierarchies, path }: Cgroup, { controller, file }: CgroupFile): string =>
  join(findHierarchy(hierarchies, controller)?.root ?? '', path, file);

/** Parses a limit. Returns Infinity if there is no limit. */
function parseLimit(contents: string): number {
  const [limit = ''] = contents.trim().split(' ');
  return limit === 'max' || limit === '-1' ? Number.POSITIVE_INFINITY : Number(limit);
}

async function writeFile(cgroup: Cgroup, file: CgroupFile): Promise<void> {
  const path = cgroupFilePath(cgroup, file);
  try {
    await cgroup.cgroupfs.write(path, file.value);
  } catch (error) {
    // If the kernel does not support this part of a controller, or the controller is not enabled for the cgroup, the
    // file does not exist and cannot be created (`EACCES`).
    if (cgroup.cgroupfs.exists(path)) throw error;
  }
}
