/** Finds the existing cgroups of pods and containers by their names. */
import { join } from 'node:path';
import { type CgroupLocation, cgroupPath } from '../../../kubernetes/resources/cgroup.ts';
import { type Cgroupfs, hostCgroupfs } from '../cgroupfs.ts';
import { findHierarchy, type Hierarchy } from '../hierarchies.ts';
import { relativePath } from '../remove.ts';

/** Existing cgroups. Paths are relative to the hierarchies' roots. */
export interface ExistingCgroups {
  /** Existing cgroups that all pods share: their parent and the cgroups of the QoS classes. */
  readonly shared: readonly string[];
  readonly pods: readonly ExistingPodCgroup[];
}

interface ExistingPodCgroup {
  readonly uid: string;
  readonly path: string;
  /** Cgroups of containers and sandboxes, which only the runtime can tell apart. */
  readonly containers: readonly ExistingContainerCgroup[];
}

interface ExistingContainerCgroup {
  /** ID of the container in the runtime. */
  readonly id: string;
  readonly path: string;
}

interface CgroupTreeInput {
  readonly location: CgroupLocation;
  readonly hierarchies: readonly Hierarchy[];
  /** The cgroup file system. Defaults to the host's. */
  readonly cgroupfs?: Pick<Cgroupfs, 'names' | 'exists'>;
}

const SHARED_CGROUPS = [['kubepods'], ['kubepods', 'burstable'], ['kubepods', 'besteffort']];

/**
 * Lists the cgroups in the hierarchy of the cpu controller. Synchronous, because cgroupfs is in memory. Takes about 20
 * µs per pod.
 */
export function findPodCgroups({ location, hierarchies, cgroupfs = hostCgroupfs }: CgroupTreeInput): ExistingCgroups {
  const root = (findHierarchy(hierarchies, 'cpu') ?? hierarchies.find(({ version }) => version === 'v2'))?.root;
  if (root === undefined) return { shared: [], pods: [] };
  const candidatePaths = SHARED_CGROUPS.map((names) => relativePath(cgroupPath(names, location)));
  const sharedPaths = candidatePaths.filter((path) => cgroupfs.exists(join(root, path)));
  const listChildren = (path: string) =>
    cgroupfs.names(join(root, path)).map((name) => ({ name, path: `${path}/${name}` }));
  const pods = sharedPaths.flatMap(listChildren).flatMap(({ name, path }) => {
    const uid = parsePodUid(name);
    if (uid === undefined) return [];
    const containers = listChildren(path).flatMap((child) => {
      const id = parseContainerId(child.name);
      return id === undefined ? [] : [{ id, path: child.path }];
    });
    return [{ uid, path, containers }];
  });
  return { shared: sharedPaths, pods };
}

/** Returns the path of the cgroup of all pods relative to the hierarchies' roots, whether or not it exists. */
export const sharedCgroupPath = (location: CgroupLocation): string => relativePath(cgroupPath(['kubepods'], location));

/** Parses `pod<uid>` or `kubepods-burstable-pod<uid>.slice`, in which the dashes of the UID are underscores. */
function parsePodUid(name: string): string | undefined {
  const [, slice] = /-pod([^-]+)\.slice$/.exec(name) ?? [];
  return slice?.replaceAll('_', '-') ?? /^pod([^/.]+)$/.exec(name)?.[1];
}

/** Parses `<id>` or, with systemd, a name such as `cri-containerd-<id>.scope` (`isContainerName` in cAdvisor). */
const parseContainerId = (name: string): string | undefined =>
  /^(?:[a-z-]+-)?([0-9a-f]{64})(?:\.scope)?$/.exec(name)?.[1];
