/** Reads the mounted cgroup hierarchies: one per controller on v1, a single one on v2, or both. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface Hierarchy {
  /** Mount point of the hierarchy. */
  readonly root: string;
  readonly version: 'v1' | 'v2';
  /** Available controllers. Empty for hierarchies that only group or track processes. */
  readonly controllers: readonly string[];
}

/** Reads the mounted hierarchies, which do not change while a node is running. */
export async function readHierarchies(): Promise<readonly Hierarchy[]> {
  const mountedHierarchies = parseHierarchies(await readFile('/proc/self/mountinfo', 'utf8'));
  return Promise.all(
    mountedHierarchies.map(async (hierarchy) => {
      if (hierarchy.version === 'v1') return hierarchy;
      const controllers = await readFile(join(hierarchy.root, 'cgroup.controllers'), 'utf8').catch(() => '');
      return { ...hierarchy, controllers: controllers.split(/\s+/).filter((controller) => controller !== '') };
    }),
  );
}

/** Pattern of a line of mountinfo. Captures the mount point, the file system type and the options of the hierarchy. */
const MOUNTINFO_LINE = /^(?:\S+ ){4}(\S+) .*? - (cgroup2?) \S+ (\S+)/;

/** Parses the hierarchies in a `mountinfo` file. If a hierarchy is mounted twice, the shorter path is used. */
export function parseHierarchies(mountinfo: string): Hierarchy[] {
  const hierarchies = new Map<string, Hierarchy>();
  for (const line of mountinfo.split('\n')) {
    const [, root, type, options = ''] = MOUNTINFO_LINE.exec(line) ?? [];
    if (root === undefined) continue;
    const controllers = type === 'cgroup' ? parseControllers(options) : [];
    const key = type === 'cgroup' ? controllers.join() || options : 'unified';
    const existingHierarchy = hierarchies.get(key);
    if (existingHierarchy !== undefined && existingHierarchy.root.length <= root.length) continue;
    hierarchies.set(key, { root, version: type === 'cgroup' ? 'v1' : 'v2', controllers });
  }
  return [...hierarchies.values()];
}

/** Mount options that are not controllers. */
const NON_CONTROLLER_OPTION = /^(ro|rw|xattr|noprefix|clone_children|cpuset_v2_mode|name=.*|release_agent=.*)$/;

const parseControllers = (options: string): string[] =>
  options.split(',').filter((option) => !NON_CONTROLLER_OPTION.test(option));

/** Returns the hierarchy of a controller, if there is one. */
export const findHierarchy = (hierarchies: readonly Hierarchy[], controller: string): Hierarchy | undefined =>
  hierarchies.find(({ controllers }) => controllers.includes(controller));
