/** Makes cgroups as directories and writes their limits, in whatever hierarchies the host has. */
import { access, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type CgroupFile, type Controller, cgroupFiles } from '../pod/cgroupFiles.ts';
import type { CgroupLimits } from '../pod/cgroupLimits.ts';
import { isMissing } from './errors.ts';
import { type Hierarchy, hierarchyOf } from './hierarchies.ts';

/** Where a cgroup is: below the root of each hierarchy. */
export interface Cgroup {
  readonly hierarchies: readonly Hierarchy[];
  /** Relative, in directories: `kubepods.slice/kubepods-burstable.slice`. */
  readonly path: string;
}

const CONTROLLERS: readonly Controller[] = ['cpu', 'memory', 'pids', 'hugetlb'];

/** Whether a cgroup is there. */
export async function hasCgroup({ hierarchies, path }: Cgroup): Promise<boolean> {
  const root = hierarchyOf(hierarchies, 'cpu')?.root ?? hierarchies[0]?.root;
  if (root === undefined) return false;
  return access(join(root, path)).then(
    () => true,
    () => false,
  );
}

/** Makes the directories of a cgroup where it is limited; on v2 its controllers are turned on in all above it. */
export async function makeCgroup({ hierarchies, path }: Cgroup): Promise<void> {
  const used = new Set(CONTROLLERS.flatMap((controller) => hierarchyOf(hierarchies, controller) ?? []));
  await Promise.all(
    Array.from(used, async (hierarchy) => {
      if (hierarchy.version === 'v2') await delegate(hierarchy, path);
      await mkdir(join(hierarchy.root, path), { recursive: true });
    }),
  );
}

/** On v2 a cgroup has the controllers that its parent passes on. */
async function delegate({ root, controllers }: Hierarchy, path: string): Promise<void> {
  const names = path.split('/');
  for (let depth = 0; depth < names.length; depth += 1) {
    const directory = join(root, ...names.slice(0, depth));
    await mkdir(directory, { recursive: true });
    const file = join(directory, 'cgroup.subtree_control');
    const passed = (await readFile(file, 'utf8')).split(/\s+/);
    const wanted = ['cpuset', ...CONTROLLERS].filter((each) => controllers.includes(each) && !passed.includes(each));
    if (wanted.length > 0) await writeFile(file, wanted.map((each) => `+${each}`).join(' '));
  }
}

/** Writes the limits of a cgroup that is there. */
export async function writeLimits(cgroup: Cgroup, limits: CgroupLimits): Promise<void> {
  await eachController(cgroup, limits, (file) => write(cgroup, file));
}

/** Writes only those limits that give a cgroup more than it has: its children may then grow. */
export async function raiseLimits(cgroup: Cgroup, limits: CgroupLimits): Promise<void> {
  await eachController(cgroup, limits, async (file) => {
    const present = await readFile(pathOf(cgroup, file), 'utf8').catch(() => undefined);
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
  await Promise.all([...Map.groupBy(files, ({ controller }) => controller).values()].map(inOrder));
}

const pathOf = ({ hierarchies, path }: Cgroup, { controller, file }: CgroupFile): string =>
  join(hierarchyOf(hierarchies, controller)?.root ?? '', path, file);

/** A limit as a number; none is the largest. */
function amount(text: string): number {
  const [first = ''] = text.trim().split(' ');
  return first === 'max' || first === '-1' ? Number.POSITIVE_INFINITY : Number(first);
}

async function write(cgroup: Cgroup, file: CgroupFile): Promise<void> {
  try {
    await writeFile(pathOf(cgroup, file), file.value);
  } catch (error) {
    // A kernel without this part of a controller has no file for it.
    if (!isMissing(error)) throw error;
  }
}
