/** Makes cgroups as directories and writes their limits, in whatever hierarchies the host has. */
import { dirname, join } from 'node:path';
import { allDone } from '../../base/allDone.ts';
import { type CgroupFile, type Controller, cgroupFiles } from '../../kubernetes/resources/cgroupFiles.ts';
import type { CgroupLimits } from '../../kubernetes/resources/cgroupLimits.ts';
import type { Cgroupfs } from './cgroupfs.ts';
import { type Hierarchy, hierarchyOf } from './hierarchies.ts';

/** Where a cgroup is: below the root of each hierarchy. */
export interface Cgroup {
  readonly cgroupfs: Cgroupfs;
  readonly hierarchies: readonly Hierarchy[];
  /** Relative, in directories: `kubepods.slice/kubepods-burstable.slice`. */
  readonly path: string;
}

const CONTROLLERS: readonly Controller[] = ['cpu', 'memory', 'pids', 'hugetlb'];

/** Whether a cgroup is there. */
export function hasCgroup({ cgroupfs, hierarchies, path }: Cgroup): boolean {
  const root = hierarchyOf(hierarchies, 'cpu')?.root ?? hierarchies[0]?.root;
  return root !== undefined && cgroupfs.exists(join(root, path));
}

/**
 * Makes the directories of a cgroup where it is limited; on v2 its controllers are turned on in all above it that may be
 * changed.
 */
export async function makeCgroup(cgroup: Cgroup, mayChange: (path: string) => boolean): Promise<void> {
  const { cgroupfs, hierarchies, path } = cgroup;
  const used = new Set(CONTROLLERS.flatMap((controller) => hierarchyOf(hierarchies, controller) ?? []));
  await allDone(
    Array.from(used, async (hierarchy) => {
      if (hierarchy.version === 'v2') await delegate(cgroupfs, hierarchy, { path: dirname(path), mayChange });
      const directory = join(hierarchy.root, path);
      if (!cgroupfs.exists(directory)) await cgroupfs.mkdir(directory);
    }),
  );
}

/** On v2 a cgroup has the controllers that its parent passes on; that one has them of its own parent. */
async function delegate(
  cgroupfs: Cgroupfs,
  hierarchy: Hierarchy,
  { path, mayChange }: { readonly path: string; readonly mayChange: (path: string) => boolean },
): Promise<void> {
  if (!mayChange(path)) return;
  const directory = join(hierarchy.root, path);
  const file = join(directory, 'cgroup.subtree_control');
  const passed = wordsIn(cgroupfs, file) ?? [];
  const isWanted = (each: string) => hierarchy.controllers.includes(each) && !passed.includes(each);
  const wanted = ['cpuset', ...CONTROLLERS].filter(isWanted);
  if (wanted.length === 0) return;
  if (path !== '.') await delegate(cgroupfs, hierarchy, { path: dirname(path), mayChange });
  await cgroupfs.mkdir(directory);
  // Above may be one that is not to be changed, and does not pass on all of them.
  const given = wordsIn(cgroupfs, join(directory, 'cgroup.controllers')) ?? wanted;
  const passable = wanted.filter((each) => given.includes(each));
  if (passable.length > 0) await cgroupfs.write(file, passable.map((each) => `+${each}`).join(' '));
}

/** On v2: the controllers that these limits need and that are not passed on to the cgroup. */
export function missingControllers(cgroup: Cgroup, limits: CgroupLimits): Controller[] {
  const { cgroupfs, hierarchies, path } = cgroup;
  const needed = cgroupFiles(limits, (controller) => hierarchyOf(hierarchies, controller)?.version);
  const isMissingHere = (controller: Controller) => {
    const hierarchy = hierarchyOf(hierarchies, controller);
    if (hierarchy?.version !== 'v2') return false;
    return wordsIn(cgroupfs, join(hierarchy.root, path, 'cgroup.controllers'))?.includes(controller) === false;
  };
  return [...new Set(needed.map(({ controller }) => controller))].filter(isMissingHere);
}

/** What it means that a cgroup has not all controllers that it needs. */
export const notPassedOn = (cgroup: string, controllers: string): string =>
  `${cgroup} lacks the controllers ${controllers}, as its parent cgroup does not delegate them: limits that need them are not enforced`;

const wordsIn = (cgroupfs: Cgroupfs, file: string): string[] | undefined => cgroupfs.read(file)?.trim().split(/\s+/);

/** Writes the limits of a cgroup that is there. */
export async function writeLimits(cgroup: Cgroup, limits: CgroupLimits): Promise<void> {
  await eachController(cgroup, limits, (file) => write(cgroup, file));
}

/** Writes only those limits that give a cgroup more than it has: its children may then grow. */
export async function raiseLimits(cgroup: Cgroup, limits: CgroupLimits): Promise<void> {
  await eachController(cgroup, limits, async (file) => {
    const present = cgroup.cgroupfs.read(pathOf(cgroup, file));
    if (present !== undefined && amount(file.value) > amount(present)) await write(cgroup, file);
  });
}

/** The files of one controller one after the other, for some depend on others; the controllers side by side. */
async function eachController(
  { hierarchies }: Cgroup,
  limits: CgroupLimits,
  act: (file: CgroupFile) => Promise<void>,
): Promise<void> {
  const files = cgroupFiles(limits, (controller) => hierarchyOf(hierarchies, controller)?.version);
  const inOrder = async (own: readonly CgroupFile[]) => {
    for (const file of own) await act(file);
  };
  await allDone([...Map.groupBy(files, ({ controller }) => controller).values()].map(inOrder));
}

const pathOf = ({ hierarchies, path }: Cgroup, { controller, file }: CgroupFile): string =>
  join(hierarchyOf(hierarchies, controller)?.root ?? '', path, file);

/** A limit as a number; none is the largest. */
function amount(text: string): number {
  const [first = ''] = text.trim().split(' ');
  return first === 'max' || first === '-1' ? Number.POSITIVE_INFINITY : Number(first);
}

async function write(cgroup: Cgroup, file: CgroupFile): Promise<void> {
  const path = pathOf(cgroup, file);
  try {
    await cgroup.cgroupfs.write(path, file.value);
  } catch (error) {
    // A kernel without this part of a controller has no file for it, nor has a cgroup to which its controller is not
    // passed on; the kernel lets nobody make one (`EACCES`).
    if (cgroup.cgroupfs.exists(path)) throw error;
  }
}
