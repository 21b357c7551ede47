/** The cgroups that there are of pods and of what runs in them, by the names that agents and runtimes give them. */
import { join } from 'node:path';
import { type CgroupPlace, cgroupPath } from '../../../kubernetes/resources/cgroup.ts';
import { type Cgroupfs, hostCgroupfs } from '../cgroupfs.ts';
import { type Hierarchy, hierarchyOf } from '../hierarchies.ts';
import { relativePath } from '../remove.ts';

/** Paths are below the hierarchies' roots. */
export interface CgroupsFound {
  /** What all pods share: their cgroup, and those of the QoS classes that are there. */
  readonly shared: readonly string[];
  readonly pods: readonly PodCgroupFound[];
}

interface PodCgroupFound {
  readonly uid: string;
  readonly path: string;
  /** Sandboxes among them: only their runtime knows which. */
  readonly containers: readonly ContainerCgroupFound[];
}

interface ContainerCgroupFound {
  /** As its runtime names it. */
  readonly id: string;
  readonly path: string;
}

interface Tree {
  readonly place: CgroupPlace;
  readonly hierarchies: readonly Hierarchy[];
  /** The host's own when absent. */
  readonly cgroupfs?: Pick<Cgroupfs, 'names' | 'exists'>;
}

const SHARED = [['kubepods'], ['kubepods', 'burstable'], ['kubepods', 'besteffort']];

/** Looks at the names in the hierarchy of processor time: on the spot, as it is in memory; a pod takes about 20 µs. */
export function findPodCgroups({ place, hierarchies, cgroupfs = hostCgroupfs }: Tree): CgroupsFound {
  const root = (hierarchyOf(hierarchies, 'cpu') ?? hierarchies.find(({ version }) => version === 'v2'))?.root;
  if (root === undefined) return { shared: [], pods: [] };
  const all = SHARED.map((names) => relativePath(cgroupPath(names, place)));
  const shared = all.filter((path) => cgroupfs.exists(join(root, path)));
  const inside = (path: string) => cgroupfs.names(join(root, path)).map((name) => ({ name, path: `${path}/${name}` }));
  const pods = shared.flatMap(inside).flatMap(({ name, path }) => {
    const uid = podUid(name);
    if (uid === undefined) return [];
    const containers = inside(path).flatMap((each) => {
      const id = containerId(each.name);
      return id === undefined ? [] : [{ id, path: each.path }];
    });
    return [{ uid, path, containers }];
  });
  return { shared, pods };
}

/** `pod<uid>`, or `kubepods-burstable-pod<uid>.slice`, in which the dashes of a UID are underscores. */
function podUid(name: string): string | undefined {
  const [, slice] = /-pod([^-]+)\.slice$/.exec(name) ?? [];
  return slice?.replaceAll('_', '-') ?? /^pod([^/.]+)$/.exec(name)?.[1];
}

/** `<id>`, or `cri-containerd-<id>.scope` and the like, as systemd has it (`isContainerName` in cAdvisor). */
const containerId = (name: string): string | undefined => /^(?:[a-z-]+-)?([0-9a-f]{64})(?:\.scope)?$/.exec(name)?.[1];
