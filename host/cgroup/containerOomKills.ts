/** Counts OOM kills in the cgroups of containers, which requires cgroup v2. */
import { join } from 'node:path';
import type { OomKill } from '../../kubernetes/lifecycle/oomKill.ts';
import type { CgroupLocation } from '../../kubernetes/resources/cgroup.ts';
import { type Cgroupfs, hostCgroupfs } from './cgroupfs.ts';
import { findHierarchy, type Hierarchy } from './hierarchies.ts';
import { findPodCgroups } from './usage/findPodCgroups.ts';

interface ContainerOomKillsParts {
  readonly location: CgroupLocation;
  readonly hierarchies: readonly Hierarchy[];
  /** The cgroup file system. Defaults to the host's. */
  readonly cgroupfs?: Pick<Cgroupfs, 'names' | 'exists' | 'read'>;
}

/** File with the event counts of the cgroup itself, without those of its child cgroups. */
const EVENTS_FILE = 'memory.events.local';
const KILLS_PATTERN = /^oom_kill (\d+)$/m;

/** Detects new OOM kills by comparing the counts of two reads. */
export class ContainerOomKills {
  readonly #parts: ContainerOomKillsParts & { readonly cgroupfs: Pick<Cgroupfs, 'names' | 'exists' | 'read'> };
  /** Number of kills by container ID at the last read. Undefined before the first one. */
  #counts: ReadonlyMap<string, number> | undefined;

  constructor(parts: ContainerOomKillsParts) {
    this.#parts = { cgroupfs: hostCgroupfs, ...parts };
  }

  /**
   * Returns one kill for each container with new kills since the last call. The first call returns none, because
   * earlier kills may have happened at any time. The counters do not identify the killed process.
   */
  read(): readonly OomKill[] {
    const { location, hierarchies, cgroupfs } = this.#parts;
    const hierarchy = findHierarchy(hierarchies, 'memory');
    if (hierarchy?.version !== 'v2') return [];
    const counts = new Map<string, number>();
    const kills: OomKill[] = [];
    for (const { containers } of findPodCgroups({ location, hierarchies, cgroupfs }).pods) {
      for (const { id, path } of containers) {
        const text = cgroupfs.read(join(hierarchy.root, path, EVENTS_FILE)) ?? '';
        const count = Number(KILLS_PATTERN.exec(text)?.[1] ?? 0);
        counts.set(id, count);
        if (this.#counts !== undefined && count > (this.#counts.get(id) ?? 0))
          kills.push({ at: 0, pid: 0, processName: '', cgroup: `/${path}`, limitedCgroup: '' });
      }
    }
    this.#counts = counts;
    return kills;
  }
}
