/** The cgroup hierarchies that the host has mounted: one a controller on v1, one for all on v2, or both at once. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface Hierarchy {
  /** Where it is mounted. */
  readonly root: string;
  readonly version: 'v1' | 'v2';
  /** What can be limited in it; none in the hierarchies that only name or track processes. */
  readonly controllers: readonly string[];
}

/** Reads what is mounted now: it does not change while a node runs. */
export async function readHierarchies(): Promise<readonly Hierarchy[]> {
  const found = parseHierarchies(await readFile('/proc/self/mountinfo', 'utf8'));
  return Promise.all(
    found.map(async (hierarchy) => {
      if (hierarchy.version === 'v1') return hierarchy;
      const text = await readFile(join(hierarchy.root, 'cgroup.controllers'), 'utf8').catch(() => '');
      return { ...hierarchy, controllers: text.split(/\s+/).filter((each) => each !== '') };
    }),
  );
}

/** Five fields (the last the mount point), options and more, a dash, the type, the source, the options of the hierarchy. */
const LINE = /^(?:\S+ ){4}(\S+) .*? - (cgroup2?) \S+ (\S+)/;

/** Reads the hierarchies off the text of a `mountinfo` file; of one that is mounted twice, the shorter path. */
export function parseHierarchies(mountinfo: string): Hierarchy[] {
  const found = new Map<string, Hierarchy>();
  for (const line of mountinfo.split('\n')) {
    const [, root, type, options = ''] = LINE.exec(line) ?? [];
    if (root === undefined) continue;
    const controllers = type === 'cgroup' ? controllersOf(options) : [];
    const key = type === 'cgroup' ? controllers.join() || options : 'unified';
    const known = found.get(key);
    if (known !== undefined && known.root.length <= root.length) continue;
    found.set(key, { root, version: type === 'cgroup' ? 'v1' : 'v2', controllers });
  }
  return [...found.values()];
}

/** The options that are no controllers. */
const PLAIN = /^(ro|rw|xattr|noprefix|clone_children|cpuset_v2_mode|name=.*|release_agent=.*)$/;

const controllersOf = (options: string): string[] => options.split(',').filter((option) => !PLAIN.test(option));

/** The hierarchy in which a controller is, if it is in any. */
export const hierarchyOf = (hierarchies: readonly Hierarchy[], controller: string): Hierarchy | undefined =>
  hierarchies.find(({ controllers }) => controllers.includes(controller));
